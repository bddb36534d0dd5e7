-- One row per kind of record and state that the contract names.
-- Open: action is still required. Terminal: the normal end; the contract shows no transitions, and some ends can be undone.
insert into star.dim_entity_status (entity, status, label, is_open, is_terminal, is_documented)
select seed.entity, seed.status, seed.label, seed.is_open, seed.is_terminal, seed.is_documented
from (
  values
    ('requisition', 'raised', 'Raised', true, false, true),
    ('requisition', 'approved', 'Approved', true, false, true),
    ('requisition', 'filled', 'Filled', false, true, true),
    ('requisition', 'cancelled', 'Cancelled', false, true, true),
    ('requisition', 'rejected', 'Rejected', false, true, true),
    ('recruitment_stage', 'submitted', 'Submitted', true, false, true),
    ('recruitment_stage', 'cvReviewed', 'CV reviewed', true, false, true),
    ('recruitment_stage', 'interviewRequested', 'Interview requested', true, false, true),
    ('recruitment_stage', 'interviewed', 'Interviewed', true, false, true),
    ('recruitment_stage', 'offerMade', 'Offer made', true, false, true),
    ('recruitment_stage', 'offerAccepted', 'Offer accepted', true, false, true),
    ('recruitment_stage', 'offerRejected', 'Offer rejected', false, true, true),
    ('recruitment_stage', 'assigned', 'Assigned', false, true, true),
    ('recruitment_stage', 'missingCompliance', 'Missing compliance', true, false, true),
    ('assignment', 'pending', 'Pending', true, false, true),
    ('assignment', 'confirmed', 'Confirmed', true, false, true),
    ('assignment', 'cancelled', 'Cancelled', false, true, true),
    ('assignment', 'completed', 'Completed', false, true, true),
    ('assignment', 'ended', 'Ended', false, true, true),
    ('timesheet', 'pending', 'Pending', true, false, true),
    ('timesheet', 'pending_approval', 'Pending approval', true, false, true),
    ('timesheet', 'approved', 'Approved', false, true, true),
    ('timesheet', 'cancelled', 'Cancelled', false, true, true),
    ('timesheet', 'absent', 'Absent', false, true, true),
    ('expense', 'pending', 'Pending', true, false, true),
    ('expense', 'approved', 'Approved', false, true, true),
    ('expense', 'rejected', 'Rejected', false, true, true),
    ('invoice', 'pending', 'Pending', true, false, true),
    ('invoice', 'confirmed', 'Confirmed', false, true, true),
    ('credit_note', 'processed', 'Processed', false, true, true),
    ('purchase_order', 'inactive', 'Inactive', false, false, true),
    ('company', 'active', 'Active', true, false, true),
    ('company', 'inactive', 'Inactive', false, false, true),
    ('project', 'active', 'Active', true, false, true),
    ('project', 'inactive', 'Inactive', false, false, true),
    ('site', 'active', 'Active', true, false, true),
    ('site', 'inactive', 'Inactive', false, false, true),
    ('user', 'active', 'Active', true, false, true),
    ('user', 'inactive', 'Inactive', false, false, true),
    ('worker', 'active', 'Active', true, false, true),
    ('worker', 'inactive', 'Inactive', false, false, true)
) as seed (entity, status, label, is_open, is_terminal, is_documented)
where not exists (select 1 from star.dim_entity_status as existing where existing.entity = seed.entity and existing.status = seed.status);
