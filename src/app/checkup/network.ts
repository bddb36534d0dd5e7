/** Which way requests take, and that no setting of the process weakens them. */
import type { Connection } from '../../config/connection.ts'
import { type Environment, wantsUncheckedTls } from '../../config/environment.ts'
import { proxyFor } from '../../lib/web/proxy.ts'
import { type Finding, failed, ok, warn } from './finding.ts'

export function networkFindings(connection: Connection, env: Environment): Finding[] {
  const { baseUrl, notify, lineage } = connection
  // The address itself may be secret, its host is in no message either.
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

const uncheckedTls = (env: Environment): readonly Finding[] =>
  wantsUncheckedTls(env)
    ? [
        warn(
          'TLS',
          'NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect: certificates are always checked',
          'remove the variable; the certificate of a private authority goes into NODE_EXTRA_CA_CERTS',
        ),
      ]
    : []
