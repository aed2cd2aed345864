"""Cores with one broken promise each, to show that each property of a job can fail.

Unlike the library's mutants they are no published faults, and each is made so, with a small job
around it, that nothing but its own property notices.
"""

from tests.job.properties.cores.channels import (
    KeepsSending,
    NewestFirst,
    OneOutputStaysOpen,
    Overtakes,
    PersistsBehindTheBarrier,
    PersistsForTheOlder,
    SlowToOvertake,
    SwapsData,
    TakesAnyResume,
)
from tests.job.properties.cores.coordinators import (
    GivesUpAgain,
    LeavesTimers,
    NeverSubsumes,
    SaysNothingIsKept,
    StopsAfterFailure,
    TellsNobodyOfAborts,
    aligned_in_name,
    never_expires,
    one_too_many,
)
from tests.job.properties.cores.factories import first_of_all, handler
from tests.job.properties.cores.handlers import (
    AbortsTwice,
    FailsTheTask,
    ForgetsAChannel,
    GivesUpOnce,
    MeasuresSinceTheTrigger,
    NeverStops,
    ResumesAtOnce,
    ResumesTwice,
    TriggersOutOfOrder,
)
from tests.job.properties.cores.lifecycles import (
    AcknowledgesTwice,
    CommitsAtPrecommit,
    EndsInputTwice,
    FiresTimersOnNoDrain,
)

__all__ = [
    "AbortsTwice",
    "AcknowledgesTwice",
    "CommitsAtPrecommit",
    "EndsInputTwice",
    "FailsTheTask",
    "FiresTimersOnNoDrain",
    "ForgetsAChannel",
    "GivesUpAgain",
    "GivesUpOnce",
    "KeepsSending",
    "LeavesTimers",
    "MeasuresSinceTheTrigger",
    "NeverStops",
    "NeverSubsumes",
    "NewestFirst",
    "OneOutputStaysOpen",
    "Overtakes",
    "PersistsBehindTheBarrier",
    "PersistsForTheOlder",
    "ResumesAtOnce",
    "ResumesTwice",
    "SaysNothingIsKept",
    "SlowToOvertake",
    "StopsAfterFailure",
    "SwapsData",
    "TakesAnyResume",
    "TellsNobodyOfAborts",
    "TriggersOutOfOrder",
    "aligned_in_name",
    "first_of_all",
    "handler",
    "never_expires",
    "one_too_many",
]
