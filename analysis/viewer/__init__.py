"""One page in which you walk through a run: job graph, checkpoints, space-time diagram, causes.

    html = view_page([view_of_run(subject)])            # one run
    html = view_page([view_of_run(a), view_of_run(b)])  # two runs beside each other

The page is one file without any request.  It needs neither pandas nor matplotlib.
"""

from ckptsim.analysis.viewer.document import job_graph as job_graph
from ckptsim.analysis.viewer.page import view_page as view_page
from ckptsim.analysis.viewer.sources import view_of_find as view_of_find
from ckptsim.analysis.viewer.sources import view_of_recording as view_of_recording
from ckptsim.analysis.viewer.sources import view_of_run as view_of_run
