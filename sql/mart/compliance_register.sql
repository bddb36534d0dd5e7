-- Obligations of each open assignment: statements, documents and qualifications, and whether they are missing or about to
-- expire.
-- Grain: one row per open assignment and obligation.
-- Question: What is missing or expiring?
-- Assumption: a statement is required where assignmentRequirements of the company says required; a confirmation, for which
-- there is no such setting, where the company or the agency has to give it. Qualifications are listed as the assignment names
-- them: the service does not say which of them a worker has, so their state is not known.
-- Sources: star.fact_assignment, star.dim_entity_status, star.dim_company_setting, star.fact_assignment_document,
--   star.fact_competency_requirement, star.dim_qualification
-- Measures: distinct workers = worker_id; min days_to_expiry
-- Columns:
--   compliance_key text key: The assignment, the kind of obligation and the position within that kind.
--   assignment_id text: The assignment.
--   assignment_reference text: Its reference.
--   assignment_status text: State of the assignment.
--   company_id text: The hiring company; '-1' when the record names none.
--   project_id text: The project; '-1' when the record names none.
--   site_id text: The site; '-1' when the record names none.
--   agency_id text: The agency; '-1' when the record names none.
--   worker_id text: The worker; '-1' when the record names none.
--   start_date date: First day of the assignment.
--   end_date date: Last day of the assignment.
--   obligation_type text: Kind of obligation: sds, sdc, kid, confirmation, document or qualification.
--   obligation text: The statement, document or qualification.
--   is_required boolean: Whether it is required; empty when the configuration does not say.
--   is_present boolean: Whether it is present; empty when the service does not say.
--   expires_date date: Day on which it expires, reporting zone.
--   days_to_expiry integer: Days from today to that day; below 0 when it has passed.
--   expiry_band text: How soon it expires: expired, 30, 60 or 90 days, later; empty when it does not expire or is missing.
--   state text: Overall state: missing, expired, expiring (within 30 days), present, not required or not known.
with assignment as (
  select a.*
  from star.fact_assignment as a
  inner join star.dim_entity_status as s on s.entity = 'assignment' and s.status = a.status
  where not a.is_deleted and s.is_open
),

setting as (
  select
    c.company_id,
    bool_or(case when c.setting_path = 'assignmentRequirements.sds.required' then c.value_boolean end) as sds,
    bool_or(case when c.setting_path = 'assignmentRequirements.sdc.required' then c.value_boolean end) as sdc,
    bool_or(case when c.setting_path = 'assignmentRequirements.kid.required' then c.value_boolean end) as kid,
    bool_or(case
      when c.setting_path in ('assignmentRequirements.confirm.company', 'assignmentRequirements.confirm.supplier')
        then c.value_boolean
    end) as confirmation
  from star.dim_company_setting as c
  where not c.is_deleted
  group by c.company_id
),

obligation as (
  select a.assignment_id, 'sds' as obligation_type, '' as place, 'Status determination statement' as obligation,
    setting.sds as is_required, a.has_sds as is_present, cast(null as date) as expires_date
  from assignment as a
  left join setting on setting.company_id = a.company_id
  union all
  select a.assignment_id, 'sdc' as obligation_type, '' as place, 'Supervision, direction and control form' as obligation,
    setting.sdc as is_required, a.has_sdc_file as is_present, cast(null as date) as expires_date
  from assignment as a
  left join setting on setting.company_id = a.company_id
  union all
  select a.assignment_id, 'kid' as obligation_type, '' as place, 'Key information document' as obligation,
    setting.kid as is_required, a.has_kid as is_present, cast(null as date) as expires_date
  from assignment as a
  left join setting on setting.company_id = a.company_id
  union all
  select a.assignment_id, 'confirmation' as obligation_type, '' as place, 'Confirmation' as obligation,
    setting.confirmation as is_required, a.confirmed_at is not null as is_present, cast(null as date) as expires_date
  from assignment as a
  left join setting on setting.company_id = a.company_id
  union all
  select a.assignment_id, 'document' as obligation_type, cast(d.document_ordinal as text) as place, d.name as obligation,
    d.is_required, coalesce(d.has_attachment, false) as is_present,
    :day(d.expires_at) as expires_date
  from assignment as a
  inner join star.fact_assignment_document as d on d.assignment_id = a.assignment_id
  where not d.is_deleted
  union all
  select a.assignment_id, 'qualification' as obligation_type, r.competency_requirement_key as place, q.name as obligation,
    r.rule = 'mandatory' as is_required, cast(null as boolean) as is_present, cast(null as date) as expires_date
  from assignment as a
  inner join star.fact_competency_requirement as r
    on r.entity = 'assignment' and r.competency_entry_key = a.assignment_id
  left join star.dim_qualification as q on q.qualification_id = r.qualification_id
  where not r.is_deleted
)

select
  a.assignment_id || '|' || o.obligation_type || '|' || o.place as compliance_key,
  a.assignment_id,
  a.reference as assignment_reference,
  a.status as assignment_status,
  a.company_id,
  a.project_id,
  a.site_id,
  a.agency_id,
  a.worker_id,
  a.start_date,
  a.end_date,
  o.obligation_type,
  o.obligation,
  o.is_required,
  o.is_present,
  o.expires_date,
  cast(o.expires_date - :today as integer) as days_to_expiry,
  case
    when not o.is_present then null
    when o.expires_date < :today then 'expired'
    when :days(o.expires_date, :today) <= 30 then '30 days'
    when :days(o.expires_date, :today) <= 60 then '60 days'
    when :days(o.expires_date, :today) <= 90 then '90 days'
    when o.expires_date is not null then 'later'
  end as expiry_band,
  case
    when o.is_present is null then 'not known'
    when o.is_present and o.expires_date < :today then 'expired'
    when o.is_present and :days(o.expires_date, :today) <= 30 then 'expiring'
    when o.is_present then 'present'
    when o.is_required then 'missing'
    when o.is_required is null then 'not known'
    else 'not required'
  end as state
from obligation as o
inner join assignment as a on a.assignment_id = o.assignment_id
