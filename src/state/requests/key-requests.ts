/**
 * Shares the requests of one key between processes: one statement, on the server's clock, hands out slots of the minute and
 * counts the day. Nothing has to be returned: a process that dies wastes at most a few slots.
 */
import type { Engine, SideSession } from '../../warehouse/engine.ts'

type Purpose = 'sync' | 'reconcile' | 'webhook' | 'operator'

export interface SharedKey {
  /** Identifies the key without revealing it. */
  readonly keyId: string
  /** Used until any process has asked `/me`. */
  readonly perMinute: number
  readonly perDay: number
  /** Shares of the day reserved for one purpose each. */
  readonly reserves: Readonly<Record<'reconcile' | 'webhook' | 'operator', number>>
  /** Milliseconds of the rolling window; tests use a short one. */
  readonly windowMs?: number
  /** How much later than others a request may reach the service, in milliseconds. */
  readonly slackMs?: number
}

interface ReportedUsage {
  readonly rateLimitPerMinute: number
  readonly rateLimitPerDay: number
  readonly usage: { readonly requestsToday?: number; readonly remainingToday?: number }
}

interface DayFigures {
  readonly perDay: number
  readonly remaining: number
  readonly spendable: number
  readonly forEvents: number
}

export interface KeyRequests {
  take(
    purpose: Purpose,
    asksLimits?: boolean,
  ): Promise<{ readonly waitMs: number; readonly lateMs: number } | undefined>
  giveBack(purpose: Purpose): Promise<void>
  learnLimits(me: ReportedUsage): Promise<void>
  pause(waitMs: number): Promise<void>
  /** Milliseconds until requests may be sent again; 0 if now. */
  pausedFor(): Promise<number>
  readonly figures: DayFigures
  close(): Promise<void>
}

/**
 * Slots are (window + slack + burst) / limit apart, and a slot may be used up to `burst` late. So the requests of any window
 * have slots within window + burst, which contains at most `limit` slots. The burst costs its share of the rate.
 */
const burstShare = 0.02

const defaultWindowMs = 60_000
/** The measured slack of a single process (src/api/budget/minute.ts). */
const slackShare = 0.03

/** Max requests waiting for slots at once: a slot further ahead comes from a wrong clock. */
const maxWaiting = 64

/**
 * Locks the row before reading the time, so that the time does not predate the wait for the lock. Ignores times in the
 * future, which the row has if the server's clock was set back.
 */
const takeSlot = `with locked as materialized (
  select * from ops.request_budget where key_id = $1 for update
), clocked as materialized (
  select *, clock_timestamp() as at from locked
), today as materialized (
  select key_id, per_minute, per_day, at, (at at time zone 'UTC')::date as today,
    day = (at at time zone 'UTC')::date as is_same, others, sync, reconcile, webhook, operator,
    case when noted_at > at + interval '1 second' then at
      when next_at > greatest(at, retry_after_until) + make_interval(secs => (2 + ${maxWaiting}::float8 / per_minute) * $4) then at
      else next_at end as next_at from clocked
), counted as materialized (
  select key_id, per_minute, per_day, at, today, greatest(next_at, at - make_interval(secs => $3)) as slot,
    case when is_same then others else 0 end as others, case when is_same then sync else 0 end as sync,
    case when is_same then reconcile else 0 end as reconcile, case when is_same then webhook else 0 end as webhook,
    case when is_same then operator else 0 end as operator from today
), shares as materialized (
  select *, greatest(0, per_day - others - sync - reconcile - webhook - operator) as remaining,
    greatest(0, floor(per_day * $5::numeric) - reconcile) as for_reconcile,
    greatest(0, floor(per_day * $6::numeric) - webhook) as for_webhook,
    greatest(0, floor(per_day * $7::numeric) - operator) as for_operator from counted
), judged as materialized (
  select *, remaining - for_reconcile - for_webhook - for_operator as for_sync,
    remaining - case when $2 = 'reconcile' then 0 else for_reconcile end
      - case when $2 = 'webhook' then 0 else for_webhook end
      - case when $2 = 'operator' then 0 else for_operator end >= 1
      and ($2 <> 'webhook' or for_webhook >= 1) as is_granted from shares
), granted as (
  update ops.request_budget as budget set day = judged.today, others = judged.others, noted_at = judged.at,
    retry_after_until = case when budget.retry_after_until > judged.slot then null else budget.retry_after_until end,
    next_at = judged.slot + make_interval(secs => (ceil($4::numeric * 1000000 / judged.per_minute) / 1000000)::float8),
    sync = judged.sync + ($2 = 'sync')::int, reconcile = judged.reconcile + ($2 = 'reconcile')::int,
    webhook = judged.webhook + ($2 = 'webhook')::int, operator = judged.operator + ($2 = 'operator')::int
  from judged where budget.key_id = judged.key_id and judged.is_granted
)
select is_granted as granted, greatest(0, extract(epoch from slot - at) * 1000)::float8 as wait,
  per_day::float8 as day, remaining::float8 as remaining,
  greatest(0, for_sync)::float8 as spendable, least(for_webhook, remaining)::float8 as events, (sync + reconcile + webhook + operator)::float8 as own from judged`

/** Counts requests of other programs, if the service reports more than we sent; never lowers that count. */
const takeOver = `update ops.request_budget set per_minute = $2, per_day = $3,
  noted_at = clock_timestamp(), next_at = case when $2 < per_minute then greatest(next_at, clock_timestamp() + make_interval(secs => $4))
    else next_at end,
  others = case when day <> (clock_timestamp() at time zone 'UTC')::date then others
    when $5::bigint > sync + reconcile + webhook + operator then greatest(others, $5::bigint - $6::bigint)
    else others end
  where key_id = $1`

/** The first slot is due long ago, so the first burst is a full one. */
const begin = `insert into ops.request_budget
  (key_id, per_minute, per_day, next_at, day, others, sync, reconcile, webhook, operator)
  values ($1, $2, $3, '-infinity', (clock_timestamp() at time zone 'UTC')::date, 0, 0, 0, 0, 0)
  on conflict (key_id) do nothing`

interface SlotAnswer {
  readonly granted: boolean
  /** Milliseconds. */
  readonly wait: number
  readonly day: number
  readonly remaining: number
  readonly spendable: number
  readonly events: number
  /** Requests counted here today, before this one. */
  readonly own: number
}

class ServerRequests implements KeyRequests {
  readonly #session: SideSession
  readonly #key: SharedKey
  /** Seconds: the window of the limit, how late a request may reach the service, and how late a slot may be used. */
  readonly #times: { readonly window: number; readonly slack: number; readonly burst: number }
  #ownAtQuestion = 0
  figures: DayFigures

  constructor(session: SideSession, key: SharedKey) {
    const window = (key.windowMs ?? defaultWindowMs) / 1000
    const slack = key.slackMs === undefined ? window * slackShare : key.slackMs / 1000
    this.#session = session
    this.#key = key
    this.#times = { window, slack, burst: window * burstShare }
    const { perDay } = key
    this.figures = { perDay, remaining: perDay, spendable: perDay, forEvents: this.#eventsPerDay(perDay) }
  }

  #eventsPerDay(perDay: number): number {
    return Math.floor(perDay * this.#key.reserves.webhook)
  }

  async take(
    purpose: Purpose,
    asksLimits = purpose === 'operator',
  ): Promise<{ waitMs: number; lateMs: number } | undefined> {
    const { keyId, reserves } = this.#key
    const { window, slack, burst } = this.#times
    const { reconcile, webhook, operator } = reserves
    const span = window + slack + burst
    const [answer] = await this.#session.rows<SlotAnswer>(takeSlot, [
      keyId,
      purpose,
      burst,
      span,
      reconcile,
      webhook,
      operator,
    ])
    if (!answer) throw new Error('the row of the key is missing in ops.request_budget')
    const spent = answer.granted ? 1 : 0
    if (asksLimits) this.#ownAtQuestion = answer.own
    this.figures = {
      perDay: answer.day,
      remaining: answer.remaining - spent,
      spendable: Math.max(0, answer.spendable - (purpose === 'sync' ? spent : 0)),
      forEvents: Math.max(0, answer.events - (purpose === 'webhook' ? spent : 0)),
    }
    // Half of the slack is for the network.
    return answer.granted ? { waitMs: answer.wait, lateMs: slack * 500 } : undefined
  }

  async giveBack(purpose: Purpose): Promise<void> {
    await this.#session.rows(
      `update ops.request_budget set ${purpose} = greatest(0, ${purpose} - 1)
       where key_id = $1 and day = (clock_timestamp() at time zone 'UTC')::date`,
      [this.#key.keyId],
    )
  }

  async learnLimits({ rateLimitPerMinute, rateLimitPerDay, usage }: ReportedUsage): Promise<void> {
    const { requestsToday = 0, remainingToday } = usage
    const used = remainingToday === undefined ? requestsToday : Math.max(0, rateLimitPerDay - remainingToday)
    const { window, slack } = this.#times
    const values = [rateLimitPerMinute, rateLimitPerDay, window + slack, used, this.#ownAtQuestion]
    await this.#session.rows(takeOver, [this.#key.keyId, ...values])
    // The next slot brings exact figures; until then assume no more than the service reports.
    const remaining = Math.max(0, rateLimitPerDay - used)
    const forEvents = Math.min(this.figures.forEvents, this.#eventsPerDay(rateLimitPerDay), remaining)
    this.figures = { perDay: rateLimitPerDay, remaining, spendable: remaining, forEvents }
  }

  /** Makes the next slot due when the wait is over. A later wait replaces an earlier one. */
  async pause(waitMs: number): Promise<void> {
    await this.#session.rows(
      `with said as (select clock_timestamp() as at, clock_timestamp() + make_interval(secs => $2) as until)
       update ops.request_budget set noted_at = said.at, retry_after_until = said.until,
         next_at = case when retry_after_until > said.at then said.until else greatest(next_at, said.until) end
       from said where key_id = $1`,
      [this.#key.keyId, waitMs / 1000],
    )
  }

  async pausedFor(): Promise<number> {
    const [row] = await this.#session.rows<{ ms: number }>(
      `select (extract(epoch from retry_after_until - clock_timestamp()) * 1000)::float8 as ms from ops.request_budget
       where key_id = $1 and noted_at <= clock_timestamp() and retry_after_until > clock_timestamp()`,
      [this.#key.keyId],
    )
    return row?.ms ?? 0
  }

  close(): Promise<void> {
    return this.#session.close()
  }
}

/**
 * Uses its own session: a slot must not wait for a transaction that loads rows, nor be rolled back with it. Undefined for a
 * warehouse that only one process can open.
 */
export async function shareRequests(engine: Engine, key: SharedKey): Promise<KeyRequests | undefined> {
  const session = await engine.openBeside?.()
  if (!session) return undefined
  try {
    await session.rows(begin, [key.keyId, key.perMinute, key.perDay])
  } catch (error) {
    await session.close()
    throw error
  }
  return new ServerRequests(session, key)
}
