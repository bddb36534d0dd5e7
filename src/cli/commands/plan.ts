/** `muster plan`: estimates the cost of a sync, a backfill or a sweep before a request is spent. */

import { askedFacts, type PlanFacts, rememberedFacts } from '../../app/connection/plan-sources.ts'
import { openIfSynced } from '../../app/connection/warehouse.ts'
import { counted, formatNumber } from '../../lib/counted.ts'
import { UsageError } from '../../lib/errors.ts'
import { durationOf, type Limits, type Range, sumOf } from '../../sync/plan/estimate.ts'
import { type PlannedResource, planRun } from '../../sync/plan/plan.ts'
import { planSweep } from '../../sync/plan/plan-sweep.ts'
import type { SyncRequest } from '../../sync/run/sync.ts'
import { type CommandModule, calendarDay, flagOption, type Options } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { resourceNames } from '../run-command.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'
import { createdBetween, scannedLists } from './backfill.ts'
import { sweptNames } from './sweep.ts'

export const command: CommandModule = {
  arguments: [
    { name: '[resources...]', summary: 'only these, such as timesheets invoices', completes: 'resource' },
  ],
  options: [
    { flags: '--from <day>', summary: 'first created day of a backfill, YYYY-MM-DD', parse: calendarDay },
    { flags: '--to <day>', summary: 'last created day of a backfill, YYYY-MM-DD', parse: calendarDay },
    { flags: '--offline', summary: 'send no request: use the totals and limits of earlier runs' },
  ],
  examples: [
    'muster plan',
    'muster plan timesheets --from 2026-01-01 --to 2026-03-31',
    'muster plan sweep',
    'muster plan --offline --json',
  ],
  run: async (context, args, options) => {
    const { isSweep, ...request } = requestOf(args, options)
    const engine = (await openIfSynced(context.connection(), context))?.handle
    try {
      const find = flagOption(options, 'offline') ? rememberedFacts : askedFacts
      const facts = await find(context.connection(), context, engine)
      try {
        const plan = isSweep ? planSweep(request.resources, facts.sources) : planRun(request, facts.sources)
        print(context, { ...request, isSweep }, { facts, planned: await plan })
      } finally {
        await facts.close()
      }
    } finally {
      await engine?.close()
    }
    return 0
  },
}

interface PlanRequest extends SyncRequest {
  readonly isSweep: boolean
}

/** The first word may name the kind; without it, a plan with days is a backfill and any other a sync. */
function requestOf(words: readonly string[], options: Options): PlanRequest {
  const [first = ''] = words
  const names = kinds.includes(first) ? words.slice(1) : words
  if (first === 'sweep') return { resources: sweptNames(names), isSweep: true }
  const hasDays = options.from !== undefined || options.to !== undefined
  if (first === 'sync' && hasDays)
    throw new UsageError({
      what: 'a sync has no days',
      next: 'leave out --from and --to, or plan a backfill',
    })
  if (first !== 'backfill' && !hasDays) return { resources: resourceNames(names), isSweep: false }
  const resources = resourceNames(names, 'lists')
  const between = createdBetween(options)
  return { resources: resources.length === 0 ? scannedLists : resources, between, isSweep: false }
}

const kinds = ['sync', 'backfill', 'sweep']

interface PlanReport {
  readonly facts: PlanFacts
  readonly planned: readonly PlannedResource[]
}

function print(context: CommandContext, request: PlanRequest, { facts, planned }: PlanReport): void {
  const total = sumOf(planned)
  const { limits } = facts
  const [low, high] = [durationOf(total.low, limits), durationOf(total.high, limits)]
  const command = request.isSweep ? 'sweep' : request.between ? 'backfill' : 'sync'
  if (context.json) {
    const minutes = { low: low.minutes, high: high.minutes }
    const days = { low: low.days, high: high.days }
    const totals = { requests: total, minutes, days }
    const between = request.between ?? null
    printJson(context, { command, between, totals, limits, spent: facts.spent(), resources: planned })
    return
  }
  printTable(
    context,
    ['resource', 'strategy', 'rows', 'requests', { title: 'why', minWidth: 32, drop: 1, breaks: true }],
    planned.map(one => [one.resource, one.strategy, one.total, span(one), one.reasoning]),
  )
  const minutes = span({ low: low.minutes, high: high.minutes })
  const days = span({ low: low.days, high: high.days })
  printLine(
    context,
    `${command}: ${span(total)} requests, ${minutes} min of sending${days === '1' ? '' : `, over ${days} days`}`,
  )
  printLine(context, limitsLine(limits, facts.spent()))
}

function span({ low, high }: Range): string {
  return low === high ? formatNumber(low) : `${formatNumber(low)}–${formatNumber(high)}`
}

function limitsLine({ perMinute, spendableToday, spendablePerDay }: Limits, spent: number): string {
  const rates = `${formatNumber(perMinute)} a minute, ${formatNumber(spendableToday)} today, ${formatNumber(spendablePerDay)} a day after reserves`
  const cost =
    spent === 0 ? 'no request was spent' : `spent ${counted(spent, 'request')} to learn the limits and totals`
  return `a sync may send ${rates}; ${cost}`
}
