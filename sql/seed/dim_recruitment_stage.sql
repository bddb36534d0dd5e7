-- One row per recruitment stage, in the order in which the contract lists them.
insert into star.dim_recruitment_stage (recruitment_stage_id, label, ordinal)
select seed.recruitment_stage_id, seed.label, seed.ordinal
from (
  values
    ('submitted', 'Submitted', 1),
    ('cvReviewed', 'CV reviewed', 2),
    ('interviewRequested', 'Interview requested', 3),
    ('interviewed', 'Interviewed', 4),
    ('offerMade', 'Offer made', 5),
    ('offerAccepted', 'Offer accepted', 6),
    ('offerRejected', 'Offer rejected', 7),
    ('assigned', 'Assigned', 8),
    ('missingCompliance', 'Missing compliance', 9)
) as seed (recruitment_stage_id, label, ordinal)
where not exists (select 1 from star.dim_recruitment_stage as existing where existing.recruitment_stage_id = seed.recruitment_stage_id);
