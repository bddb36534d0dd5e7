-- Assignments that took place, each with its last day: the day of its end or completion if its state says that it is over,
-- else the planned day. A reinstated assignment may still carry an earlier end.
engagement as (
  select
    a.*,
    case a.status
      when 'completed' then coalesce(a.completed_date, :day(a.ended_at), a.end_date)
      when 'ended' then coalesce(:day(a.ended_at), a.completed_date, a.end_date)
      else a.end_date
    end as last_date
  from star.fact_assignment as a
  where not a.is_deleted and coalesce(a.status, '') not in ('pending', 'cancelled')
),
