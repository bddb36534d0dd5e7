-- Pay and charge of each kind of hour by week and project, and their share of the week.
-- Grain: one row per week ending, company, project and kind of hour that has a value, and one for piece work.
-- Question: How much is premium time?
-- Assumption: only approved timesheets count. Piece work is what the totals of timesheets have beyond the ten kinds of
-- hour, so that all rows together are the pay and the charge of mart.labour_spend_weekly. The service gives values by kind
-- of hour, but hours only as standard and overtime ones of timelogs: these are the same in every row of a week and project.
-- Sources: star.fact_piece_rate_entry, star.fact_timesheet, star.fact_timelog, star.dim_hour_type
-- Measures: sum pay_value, charge_value; none week_pay_value, week_charge_value, pay_share, charge_share,
--   week_net_hours, week_standard_hours, week_overtime_hours, week_overtime_share
-- Columns:
--   week_ending_date date key: Last day of the week, as the company counts weeks.
--   company_id text key: The hiring company; '-1' when the records name none.
--   project_id text key: The project; '-1' when the records name none.
--   hour_type text key: Kind of hour, of star.dim_hour_type; or piece_work.
--   is_premium boolean: Whether it is anything but plain weekday time; false for piece work.
--   is_overtime boolean: Whether it is overtime.
--   is_night boolean: Whether it is night work.
--   is_weekend boolean: Whether it is weekend work.
--   is_bank_holiday boolean: Whether it is work on a bank holiday.
--   pay_value numeric(18,4): Pay of this kind of hour; the numerator of pay_share.
--   charge_value numeric(18,4): Charge of this kind of hour; the numerator of charge_share.
--   week_pay_value numeric(18,4): Pay of all kinds of hour of the week and project; the denominator of pay_share.
--   week_charge_value numeric(18,4): Charge of all kinds of hour of the week and project; the denominator of charge_share.
--   pay_share double precision: Share of the pay: pay_value divided by week_pay_value.
--   charge_share double precision: Share of the charge: charge_value divided by week_charge_value.
--   week_net_hours numeric(18,4): Hours after breaks of the timesheets of the week and project.
--   week_standard_hours numeric(18,4): Hours that their timelogs have at the standard rate; empty when there are no timelogs.
--   week_overtime_hours numeric(18,4): Hours that their timelogs have at the overtime rate; the numerator of week_overtime_share.
--   week_overtime_share double precision: week_overtime_hours / (week_standard_hours + week_overtime_hours).
--   total_basis text: What the totals of the company's timesheets include: buckets (the ten kinds of hour), buckets and
--     pieces, buckets and expenses, or buckets, pieces and expenses. Inferred from most of its timesheets.
with
-- Include: timesheet_total

logged as (
  select l.timesheet_id, sum(coalesce(l.standard_hours, 0)) as standard_hours, sum(coalesce(l.overtime_hours, 0)) as overtime_hours
  from star.fact_timelog as l
  where not l.is_deleted and (l.standard_hours is not null or l.overtime_hours is not null)
  group by l.timesheet_id
),

week as (
  select
    t.week_ending_date,
    t.company_id,
    t.project_id,
    sum(coalesce(t.net_hours, 0)) as net_hours,
    sum(l.standard_hours) as standard_hours,
    sum(l.overtime_hours) as overtime_hours,
    sum(coalesce(t.pay_total, 0)) as pay_total,
    sum(coalesce(t.charge_total, 0)) as charge_total,
    sum(t.pay_wd_basic) as pay_wd_basic,
    sum(t.charge_wd_basic) as charge_wd_basic,
    sum(t.pay_wd_overtime) as pay_wd_overtime,
    sum(t.charge_wd_overtime) as charge_wd_overtime,
    sum(t.pay_wd_nightwork) as pay_wd_nightwork,
    sum(t.charge_wd_nightwork) as charge_wd_nightwork,
    sum(t.pay_we_nightwork) as pay_we_nightwork,
    sum(t.charge_we_nightwork) as charge_we_nightwork,
    sum(t.pay_bank_holiday) as pay_bank_holiday,
    sum(t.charge_bank_holiday) as charge_bank_holiday,
    sum(t.pay_bank_holiday_night) as pay_bank_holiday_night,
    sum(t.charge_bank_holiday_night) as charge_bank_holiday_night,
    sum(t.pay_saturday) as pay_saturday,
    sum(t.charge_saturday) as charge_saturday,
    sum(t.pay_sunday) as pay_sunday,
    sum(t.charge_sunday) as charge_sunday,
    sum(t.pay_saturday_nightwork) as pay_saturday_nightwork,
    sum(t.charge_saturday_nightwork) as charge_saturday_nightwork,
    sum(t.pay_sunday_nightwork) as pay_sunday_nightwork,
    sum(t.charge_sunday_nightwork) as charge_sunday_nightwork
  from star.fact_timesheet as t
  left join logged as l on l.timesheet_id = t.timesheet_id
  where not t.is_deleted and t.status = 'approved' and t.week_ending_date is not null
  group by t.week_ending_date, t.company_id, t.project_id
),

kind as (
  select
    week.week_ending_date,
    week.company_id,
    week.project_id,
    hour.hour_type,
    hour.is_overtime,
    hour.is_night,
    hour.is_weekend,
    hour.is_bank_holiday,
    coalesce(case hour.value_bucket
      when 'wdBasic' then week.pay_wd_basic
      when 'wdOvertime' then week.pay_wd_overtime
      when 'wdNightwork' then week.pay_wd_nightwork
      when 'weNightwork' then week.pay_we_nightwork
      when 'bankHoliday' then week.pay_bank_holiday
      when 'bankHolidayNight' then week.pay_bank_holiday_night
      when 'saturday' then week.pay_saturday
      when 'sunday' then week.pay_sunday
      when 'saturdayNightwork' then week.pay_saturday_nightwork
      when 'sundayNightwork' then week.pay_sunday_nightwork
    end, 0) as pay_value,
    coalesce(case hour.value_bucket
      when 'wdBasic' then week.charge_wd_basic
      when 'wdOvertime' then week.charge_wd_overtime
      when 'wdNightwork' then week.charge_wd_nightwork
      when 'weNightwork' then week.charge_we_nightwork
      when 'bankHoliday' then week.charge_bank_holiday
      when 'bankHolidayNight' then week.charge_bank_holiday_night
      when 'saturday' then week.charge_saturday
      when 'sunday' then week.charge_sunday
      when 'saturdayNightwork' then week.charge_saturday_nightwork
      when 'sundayNightwork' then week.charge_sunday_nightwork
    end, 0) as charge_value
  from week
  cross join star.dim_hour_type as hour
  union all
  select
    week.week_ending_date,
    week.company_id,
    week.project_id,
    'piece_work' as hour_type,
    false as is_overtime,
    false as is_night,
    false as is_weekend,
    false as is_bank_holiday,
    week.pay_total - (
      coalesce(week.pay_wd_basic, 0) + coalesce(week.pay_wd_overtime, 0) + coalesce(week.pay_wd_nightwork, 0)
      + coalesce(week.pay_we_nightwork, 0) + coalesce(week.pay_bank_holiday, 0) + coalesce(week.pay_bank_holiday_night, 0)
      + coalesce(week.pay_saturday, 0) + coalesce(week.pay_sunday, 0) + coalesce(week.pay_saturday_nightwork, 0)
      + coalesce(week.pay_sunday_nightwork, 0)
    ) as pay_value,
    week.charge_total - (
      coalesce(week.charge_wd_basic, 0) + coalesce(week.charge_wd_overtime, 0) + coalesce(week.charge_wd_nightwork, 0)
      + coalesce(week.charge_we_nightwork, 0) + coalesce(week.charge_bank_holiday, 0) + coalesce(week.charge_bank_holiday_night, 0)
      + coalesce(week.charge_saturday, 0) + coalesce(week.charge_sunday, 0) + coalesce(week.charge_saturday_nightwork, 0)
      + coalesce(week.charge_sunday_nightwork, 0)
    ) as charge_value
  from week
),

total as (
  select
    kind.*,
    sum(kind.pay_value) over (partition by kind.week_ending_date, kind.company_id, kind.project_id) as week_pay_value,
    sum(kind.charge_value) over (partition by kind.week_ending_date, kind.company_id, kind.project_id) as week_charge_value
  from kind
)

select
  total.week_ending_date,
  total.company_id,
  total.project_id,
  total.hour_type,
  total.hour_type not in ('weekday', 'piece_work') as is_premium,
  total.is_overtime,
  total.is_night,
  total.is_weekend,
  total.is_bank_holiday,
  total.pay_value,
  total.charge_value,
  total.week_pay_value,
  total.week_charge_value,
  cast(total.pay_value as double precision) / nullif(cast(total.week_pay_value as double precision), 0) as pay_share,
  cast(total.charge_value as double precision) / nullif(cast(total.week_charge_value as double precision), 0) as charge_share,
  week.net_hours as week_net_hours,
  week.standard_hours as week_standard_hours,
  week.overtime_hours as week_overtime_hours,
  cast(week.overtime_hours as double precision)
    / nullif(cast(week.standard_hours + week.overtime_hours as double precision), 0) as week_overtime_share,
  basis.total_basis
from total
inner join total_basis as basis on basis.company_id = total.company_id
inner join week
  on week.week_ending_date = total.week_ending_date and week.company_id = total.company_id
    and week.project_id = total.project_id
where total.pay_value <> 0 or total.charge_value <> 0
