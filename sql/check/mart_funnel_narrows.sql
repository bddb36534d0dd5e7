-- No stage of mart.requisition_funnel is reached by more workers than the stage before it.
-- Severity: error
-- Sources: mart.requisition_funnel
-- Next: read the requisition with muster get and compare its stage tracking; the previous rows stay until the check passes
select m.requisition_id || '|' || m.agency_id as record
from mart.requisition_funnel as m
where m.cv_reviewed > m.submitted or m.interviewed > m.cv_reviewed or m.offer_made > m.interviewed
  or m.offer_accepted > m.offer_made or m.assigned > m.offer_accepted
