"""A core of a user's own, in a module that runs twice the same."""

from ckptsim.models.ordering import OrderingCore, SendState


class Silent(OrderingCore):
    """Sends nothing, whatever it is asked."""

    def step(self, event):
        """Take the event and answer with no send."""
        return [effect for effect in super().step(event) if not isinstance(effect, SendState)]
