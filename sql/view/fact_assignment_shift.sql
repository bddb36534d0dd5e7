-- Turns the seven days of a shift pattern into rows; storing seven rows an assignment would cost more than it is worth.
drop view if exists star.fact_assignment_shift;
create view star.fact_assignment_shift as
select
  shift.assignment_shift_key,
  shift.assignment_id,
  shift.weekday,
  shift.day_of_week_iso,
  shift.shift_start,
  shift.shift_end,
  shift.shift_break,
  shift.is_active,
  shift.is_night,
  shift.source_updated_at,
  shift.is_deleted
from (
  select assignment_id || '|m' as assignment_shift_key, assignment_id, 'monday' as weekday, 1 as day_of_week_iso,
    shift_monday_start as shift_start, shift_monday_end as shift_end, shift_monday_break as shift_break,
    is_shift_monday_active as is_active, is_shift_monday_night as is_night, source_updated_at, is_deleted
  from star.fact_assignment
  union all
  select assignment_id || '|t' as assignment_shift_key, assignment_id, 'tuesday' as weekday, 2 as day_of_week_iso,
    shift_tuesday_start as shift_start, shift_tuesday_end as shift_end, shift_tuesday_break as shift_break,
    is_shift_tuesday_active as is_active, is_shift_tuesday_night as is_night, source_updated_at, is_deleted
  from star.fact_assignment
  union all
  select assignment_id || '|w' as assignment_shift_key, assignment_id, 'wednesday' as weekday, 3 as day_of_week_iso,
    shift_wednesday_start as shift_start, shift_wednesday_end as shift_end, shift_wednesday_break as shift_break,
    is_shift_wednesday_active as is_active, is_shift_wednesday_night as is_night, source_updated_at, is_deleted
  from star.fact_assignment
  union all
  select assignment_id || '|th' as assignment_shift_key, assignment_id, 'thursday' as weekday, 4 as day_of_week_iso,
    shift_thursday_start as shift_start, shift_thursday_end as shift_end, shift_thursday_break as shift_break,
    is_shift_thursday_active as is_active, is_shift_thursday_night as is_night, source_updated_at, is_deleted
  from star.fact_assignment
  union all
  select assignment_id || '|f' as assignment_shift_key, assignment_id, 'friday' as weekday, 5 as day_of_week_iso,
    shift_friday_start as shift_start, shift_friday_end as shift_end, shift_friday_break as shift_break,
    is_shift_friday_active as is_active, is_shift_friday_night as is_night, source_updated_at, is_deleted
  from star.fact_assignment
  union all
  select assignment_id || '|s' as assignment_shift_key, assignment_id, 'saturday' as weekday, 6 as day_of_week_iso,
    shift_saturday_start as shift_start, shift_saturday_end as shift_end, shift_saturday_break as shift_break,
    is_shift_saturday_active as is_active, is_shift_saturday_night as is_night, source_updated_at, is_deleted
  from star.fact_assignment
  union all
  select assignment_id || '|su' as assignment_shift_key, assignment_id, 'sunday' as weekday, 7 as day_of_week_iso,
    shift_sunday_start as shift_start, shift_sunday_end as shift_end, shift_sunday_break as shift_break,
    is_shift_sunday_active as is_active, is_shift_sunday_night as is_night, source_updated_at, is_deleted
  from star.fact_assignment
) as shift
where shift.shift_start is not null or shift.shift_end is not null or shift.shift_break is not null
  or shift.is_active is not null or shift.is_night is not null;
comment on view star.fact_assignment_shift is 'One row per assignment and day of the week that its shift pattern gives.';
comment on column star.fact_assignment_shift.assignment_shift_key is 'Assignment and day, as the service spells it.';
comment on column star.fact_assignment_shift.assignment_id is 'Id of the assignment.';
comment on column star.fact_assignment_shift.weekday is 'Day of the week.';
comment on column star.fact_assignment_shift.day_of_week_iso is '1 for Monday to 7 for Sunday.';
comment on column star.fact_assignment_shift.shift_start is 'Start of the shift; the contract gives no unit.';
comment on column star.fact_assignment_shift.shift_end is 'End of the shift; the contract gives no unit.';
comment on column star.fact_assignment_shift.shift_break is 'Break; the contract gives no unit.';
comment on column star.fact_assignment_shift.is_active is 'Whether the day is worked.';
comment on column star.fact_assignment_shift.is_night is 'Whether it is a night shift.';
comment on column star.fact_assignment_shift.source_updated_at is 'When the assignment last changed at the source.';
comment on column star.fact_assignment_shift.is_deleted is 'Whether the assignment is missing at the source.';
