/** Tells where a host is: on this machine, in a private network, or anywhere else. */
import { BlockList, isIP } from 'node:net'

/** `local` addresses belong to the link or the cloud machine itself, such as 169.254.169.254, or to no host at all. */
export type AddressKind = 'public' | 'private' | 'loopback' | 'local'

const networks: readonly (readonly [AddressKind, readonly string[]])[] = [
  ['loopback', ['127.0.0.0/8', '0.0.0.0/8', '::1/128', '::/128']],
  ['local', ['169.254.0.0/16', '224.0.0.0/3', 'fe80::/10', 'ff00::/8', 'fd00:ec2::254/128']],
  // Includes addresses that embed an IPv4 address: translated (64:ff9b), tunnelled (2002) or compatible (::/96).
  [
    'private',
    [
      ...['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '192.0.0.0/24', '198.18.0.0/15'],
      ...['fc00::/7', 'fec0::/10', '64:ff9b::/96', '64:ff9b:1::/48', '2002::/16', '::/96'],
    ],
  ],
]

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** Builds a list from addresses such as `10.0.0.0/8`, `10.1.2.3` or `::1`. */
export function blockList(addresses: readonly string[]): BlockList {
  const list = new BlockList()
  for (const address of addresses) {
    const [network = '', bits] = address.split('/')
    list.addSubnet(network, Number(bits ?? (isIP(network) === 6 ? 128 : 32)), familyOf(network))
  }
  return list
}

const lists = networks.map(([kind, addresses]) => [kind, blockList(addresses)] as const)

/** Removes the brackets that a URL puts around IPv6. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')

/** Undefined for a DNS name. `hostname` must come from `URL`, which normalises 127.1 and 2130706433. */
export function addressKind(hostname: string): AddressKind | undefined {
  const host = bareHost(hostname)
  if (/^(.+\.)?localhost$/i.test(host)) return 'loopback'
  if (isIP(host) === 0) return undefined
  return lists.find(([, list]) => list.check(host, familyOf(host)))?.[0] ?? 'public'
}

/** Whether a host is this machine, where no other machine can read plain http. */
export const isLoopback = (hostname: string): boolean => addressKind(hostname) === 'loopback'
