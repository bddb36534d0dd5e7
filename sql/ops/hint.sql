-- Hints that a record has changed, and how often that was so: events, and changes of records that it is tied to.
create table if not exists ops.hint (
  resource text not null, hint text not null, kind text not null, told double precision not null,
  unchanged double precision not null, unchanged_expected double precision not null,
  quiet_changes double precision not null, quiet_expected double precision not null, updated_at timestamptz not null,
  primary key (resource, hint, kind)
);
comment on table ops.hint is 'One row per resource, kind of hint and state of its records: how often a hint turned out to be a change. All counts halve in 90 days.';
comment on column ops.hint.resource is 'The resource.';
comment on column ops.hint.hint is 'event, or the column that ties its records to what changed.';
comment on column ops.hint.kind is 'State of the records; empty where they have none.';
comment on column ops.hint.told is 'Reads of a record that something hinted at.';
comment on column ops.hint.unchanged is 'Of these, those that found no change.';
comment on column ops.hint.unchanged_expected is 'How many of them would have found none if the hint told nothing.';
comment on column ops.hint.quiet_changes is 'Changes found by reads of a record that nothing hinted at.';
comment on column ops.hint.quiet_expected is 'How many would have been found if the lack of a hint told nothing.';
comment on column ops.hint.updated_at is 'When it was last added to.';
