-- Turns the piece rates of a rate into rows. A rate may be read by itself and in its trade; the last fetch counts.
drop view if exists star.fact_piece_rate_card;
create view star.fact_piece_rate_card as
with reading as (
  select 'rate' as entity, rate_id as entity_id, rate_id, loaded_at
  from star.dim_rate
  where not is_inferred
  union all
  select 'trade' as entity, trade_id as entity_id, rate_id, loaded_at
  from star.bridge_trade_rate
),

placed as (
  select entity, entity_id, rate_id,
    row_number() over (partition by rate_id order by loaded_at desc nulls last, entity) as place
  from reading
  where rate_id <> '-1'
),

newest as (
  select card.*
  from placed
  inner join star.bridge_rate_piece_rate as card
    on card.rate_id = placed.rate_id and card.entity = placed.entity and card.entity_id = placed.entity_id
  where placed.place = 1
),

piece_rate as (
  select newest.*, 'cis' as rate_type, cis_pay as pay, cis_emp as emp, cis_margin as margin, cis_charge as charge
  from newest
  union all
  select newest.*, 'paye' as rate_type, paye_pay as pay, paye_emp as emp, paye_margin as margin, paye_charge as charge
  from newest
  union all
  select newest.*, 'psc' as rate_type, psc_pay as pay, psc_emp as emp, psc_margin as margin, psc_charge as charge
  from newest
)

select
  piece_rate.rate_id || '|' || cast(piece_rate.piece_rate_ordinal as text) || '|' || piece_rate.rate_type as piece_rate_card_key,
  piece_rate.rate_id,
  piece_rate.piece_rate_id,
  piece_rate.rate_type,
  piece_rate.pay,
  piece_rate.emp,
  piece_rate.margin,
  piece_rate.charge,
  piece_rate.entity as read_from,
  piece_rate.source_updated_at,
  piece_rate.is_deleted
from piece_rate
where piece_rate.pay is not null or piece_rate.emp is not null or piece_rate.margin is not null
  or piece_rate.charge is not null;
comment on view star.fact_piece_rate_card is 'One row per rate, piece rate and engagement type that has a price.';
comment on column star.fact_piece_rate_card.piece_rate_card_key is 'Rate, position of the piece rate and engagement type.';
comment on column star.fact_piece_rate_card.rate_id is 'Id of the rate.';
comment on column star.fact_piece_rate_card.piece_rate_id is 'The piece rate, or ''-1'' when the record names none.';
comment on column star.fact_piece_rate_card.rate_type is 'Engagement type: cis, paye or psc.';
comment on column star.fact_piece_rate_card.pay is 'Pay a unit.';
comment on column star.fact_piece_rate_card.emp is 'Employer cost a unit.';
comment on column star.fact_piece_rate_card.margin is 'Margin a unit.';
comment on column star.fact_piece_rate_card.charge is 'Charge a unit.';
comment on column star.fact_piece_rate_card.read_from is 'rate when read by itself, trade when read in its trade.';
comment on column star.fact_piece_rate_card.source_updated_at is 'When the record it was read from last changed at the source.';
comment on column star.fact_piece_rate_card.is_deleted is 'Whether the record it was read from is missing at the source.';
