/** Checks this machine: Node, free disk space, clock against the service's, and the network path. */

import { dirname } from 'node:path'
import type { Connection } from '../../config/connection.ts'
import { type Environment, wantsUncheckedTls } from '../../config/environment.ts'
import { formatSpan } from '../../lib/counted.ts'
import { clockTime } from '../../lib/dates.ts'
import { isApart, type ServiceClock } from '../../lib/service-clock.ts'
import { proxyFor } from '../../lib/web/proxy.ts'
import { freeBytes, inMegabytes } from '../../temporary/free-space.ts'
import { type CheckupFinding, fail, failed, ok, warn } from './finding.ts'

const minNode = [20, 19] as const

export function nodeVersion(version: string): CheckupFinding {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  const [minMajor, minMinor] = minNode
  const enough = major > minMajor || (major === minMajor && minor >= minMinor)
  if (enough) return ok('node', version)
  return fail('node', `${version} is too old`, `install Node ${minNode.join('.')} or later`)
}

const minBytes = 1_000_000_000

export function diskSpace(file: string, reserve: number): CheckupFinding {
  const free = freeBytes(dirname(file))
  if (free < reserve)
    return fail(
      'disk',
      `${inMegabytes(free)} free, less than reserveMegabytes`,
      'free some space: no sync starts until then',
    )
  const found = `${(free / 1e9).toFixed(1)} GB free`
  return free >= minBytes ? ok('disk', found) : warn('disk', found, 'free some space before a first sync')
}

/** Describes a wrong clock in one sentence; undefined if it is right or was not measured. */
export function clockApart(aheadMs: number | undefined): string | undefined {
  if (aheadMs === undefined || !isApart(aheadMs)) return undefined
  return `the clock of this machine is ${formatSpan(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the service's`
}

export function clockFinding({ aheadMs }: Pick<ServiceClock, 'aheadMs'>): CheckupFinding {
  const apart = clockApart(aheadMs)
  if (apart !== undefined)
    return warn(
      'clock',
      apart,
      'synchronise it with NTP; until then, records are dated by the clock of the service',
    )
  if (aheadMs !== undefined) return ok('clock', "it agrees with the service's within a minute")
  return warn(
    'clock',
    'the service sends no usable time with its answers',
    'synchronise the clock of this machine with NTP; without the time of the service, scans read one lookback more',
  )
}

/** Warns of a pause that the service asked for; undefined without one. `now` is the time of this machine. */
export function pauseFinding(leftMs: number, now: number): CheckupFinding | undefined {
  if (leftMs <= 0) return undefined
  const until = clockTime(now + leftMs)
  return warn('pause', `the service asked to receive no request until ${until}`, 'run again after that')
}

/** Reports how requests reach the network, and settings of the process that would weaken TLS. */
export function networkFindings(connection: Connection, env: Environment): CheckupFinding[] {
  const { baseUrl, notify, lineage } = connection
  // No addresses of notify and lineage: they may be secret, including the host.
  const targets: readonly (readonly [string, string | undefined])[] = [
    [URL.canParse(baseUrl) ? new URL(baseUrl).host : 'baseUrl', baseUrl],
    ['notify', notify?.url?.reveal()],
    ['lineage', lineage?.url?.reveal()],
  ]
  try {
    const ways = targets.flatMap(([name, url]) =>
      url !== undefined && URL.canParse(url) ? [`${name} ${wayTo(new URL(url), connection)}`] : [],
    )
    return [ok('network', ways.join('; ')), ...uncheckedTls(env)]
  } catch (error) {
    return [failed('network', error), ...uncheckedTls(env)]
  }
}

function wayTo(url: URL, { proxies }: Connection): string {
  const proxy = proxyFor(url, proxies)
  return proxy ? `through the proxy ${proxy.url} (${proxy.variable})` : 'directly'
}

const uncheckedTls = (env: Environment): readonly CheckupFinding[] =>
  wantsUncheckedTls(env)
    ? [
        warn(
          'TLS',
          'NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect: certificates are always checked',
          'remove the variable; the certificate of a private authority goes into NODE_EXTRA_CA_CERTS',
        ),
      ]
    : []
