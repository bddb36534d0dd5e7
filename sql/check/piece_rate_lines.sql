-- Units and values of a piece-rate entry are the sums of its lines.
-- Severity: warn
-- Sources: star.fact_piece_rate_entry, star.fact_piece_rate_line
-- Next: look the timesheet up in the service; if it shows the same, report the sums to it, else run muster replay
select e.piece_rate_entry_id as record, e.timesheet_id
from star.fact_piece_rate_entry as e
inner join (
  select l.piece_rate_entry_id, l.timesheet_id, sum(coalesce(l.units, 0)) as units, sum(coalesce(l.pay_value, 0)) as pay,
    sum(coalesce(l.charge_value, 0)) as charge
  from star.fact_piece_rate_line as l
  where not l.is_deleted
  group by l.piece_rate_entry_id, l.timesheet_id
) as line on line.piece_rate_entry_id = e.piece_rate_entry_id and line.timesheet_id = e.timesheet_id
where not e.is_deleted
  and (abs(e.total_units - line.units) > 0.01 or abs(e.total_pay_value - line.pay) > 0.05 or abs(e.total_charge_value - line.charge) > 0.05)
