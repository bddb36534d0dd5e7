/** Some requisitions and timesheets that tell the interpretations of each rule apart. */

import type { CalibrationRecords } from '../../../src/crosscheck/calibrate/records.ts'
import { Zones } from '../../../src/crosscheck/calibrate/zones.ts'
import { servedRequisition } from '../../../src/crosscheck/explain/requisitions.ts'
import { dayMs, hourMs } from '../../../src/lib/dates.ts'
import { seededRng } from '../../../src/lib/rng.ts'
import { measureOf, namesOf, type World } from '../in-memory.ts'

const companies = ['c1', 'c2'].map(id => ({ id, name: `Company ${id}` }))
const projects = ['p1', 'p2', 'p3'].map(id => ({ id, name: `Project ${id}` }))
const agencies = ['a1', 'a2', 'a3'].map(id => ({ id, name: `Agency ${id}` }))
const [requisitionStates, timesheetStates] = [
  ['filled', 'filled', 'filled', 'approved', 'raised', 'cancelled', 'rejected'],
  ['approved', 'approved', 'approved', 'pending', 'pending_approval', 'absent', 'cancelled'],
]
const iso = (timeMs: number): string => new Date(Math.floor(timeMs)).toISOString()
const start = Date.parse('2026-02-01')

export function smallWorld(seed = 7): World {
  const rng = seededRng(seed)
  const pick = <Value>(list: readonly Value[]): Value => list[Math.floor(rng() * list.length)] as Value
  const requisitions = Array.from({ length: 42 }, (_, index) => {
    const place = Math.floor(rng() * 3)
    const approved = start + Math.floor(rng() * 80 * 24 * 4) * (hourMs / 4)
    return {
      ...{
        id: `r${index}`,
        reference: `REQ-${index}`,
        status: pick(requisitionStates),
        updatedAt: iso(start),
      },
      ...{ company: companies[place === 0 ? 0 : 1], project: projects[place] },
      approvedDate: iso(approved),
      agencies: agencies
        .filter(() => rng() < 0.7)
        .map(agency => ({
          ...agency,
          dateAccepted: iso(
            approved + (rng() < 0.1 ? -2 * rng() : rng() < 0.1 ? 60 * rng() : 12 * rng()) * dayMs,
          ),
        })),
    }
  })
  const timesheets = Array.from({ length: 90 }, (_, index) => {
    const place = Math.floor(rng() * 3)
    return {
      ...{
        id: `t${index}`,
        reference: `TS-${index}`,
        status: pick(timesheetStates),
        worker: { id: `w${index % 12}`, name: 'W' },
      },
      ...{ company: companies[place === 0 ? 0 : 1], project: projects[place], agency: pick(agencies) },
      weekEnding: iso(start + 7 * Math.floor(rng() * 12) * dayMs),
      netHours: pick([48, 48, 40, 20, 7.25, 33.3, 50.125]),
      timelogs: [{ hours: { total: pick([8, 16.5, 31]) } }],
    }
  })
  return { requisitions, timesheets }
}

const times = (values: readonly unknown[]): number[] =>
  [...new Set(values.flatMap(value => (typeof value === 'string' ? [Date.parse(value)] : [])))].sort(
    (left, right) => right - left,
  )

/** What a calibration would read of a warehouse with these records. */
export function recordsOf(world: World, zones: readonly string[]): CalibrationRecords {
  const requisitions = world.requisitions.map(one => servedRequisition(one as Record<string, unknown>))
  const accepted = times(requisitions.flatMap(({ answers }) => answers.map(one => iso(one.acceptedAt))))
  const approved = times(requisitions.flatMap(one => (one.approvedAt === null ? [] : [iso(one.approvedAt)])))
  const weekEndings = times(world.timesheets.map(one => (one as { weekEnding?: string }).weekEnding))
  return {
    ...{ measure: measureOf(world), names: namesOf(world), requisitions, acceptances: accepted, weekEndings },
    zones: new Zones(zones, { timeToFill: [...accepted, ...approved], workersOverHours: weekEndings }),
  }
}
