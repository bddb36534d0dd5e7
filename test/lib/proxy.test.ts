/** Which requests go through a proxy, and where a host is. */
import { expect, test } from 'vitest'
import { addressKind } from '../../src/lib/web/address-kind.ts'
import { type ProxyVariables, proxyFor, proxySecrets } from '../../src/lib/web/proxy.ts'

const both = { http: 'http://plain:3128', https: 'http://secure:3128' }

test.each<[string, ProxyVariables, string | undefined]>([
  ['https://api.example.com/x', {}, undefined],
  ['https://api.example.com/x', both, 'http://secure:3128'],
  ['http://api.example.com/x', both, 'http://plain:3128'],
  ['https://api.example.com/x', { http: 'http://plain:3128' }, 'http://plain:3128'],
  ['http://api.example.com/x', { https: 'http://secure:3128' }, undefined],
  ['https://api.example.com/x', { https: 'secure:3128' }, 'http://secure:3128'],
  ['https://api.example.com/x', { https: 'https://secure' }, 'https://secure'],
  ['https://localhost:8443/x', both, undefined],
  ['http://127.0.0.1:4010/x', both, undefined],
  ['http://[::1]:4010/x', both, undefined],
  ['https://api.example.com/x', { ...both, no: '*' }, undefined],
  ['https://api.example.com/x', { ...both, no: 'other.com, example.com' }, undefined],
  ['https://api.example.com/x', { ...both, no: 'other.com .Example.com' }, undefined],
  ['https://api.example.com/x', { ...both, no: '*.example.com' }, undefined],
  ['https://api.example.com/x', { ...both, no: 'api.example.com:443' }, undefined],
  ['https://api.example.com/x', { ...both, no: 'api.example.com:444' }, 'http://secure:3128'],
  ['https://myexample.com/x', { ...both, no: 'example.com' }, 'http://secure:3128'],
  ['https://10.1.2.3/x', { ...both, no: '10.0.0.0/8' }, undefined],
  ['https://11.1.2.3/x', { ...both, no: '10.0.0.0/8' }, 'http://secure:3128'],
  ['https://10.1.2.3/x', { ...both, no: '10.1.2.3' }, undefined],
  ['https://[fd12::1]/x', { ...both, no: '[fd12::1]:443' }, undefined],
  ['https://10.1.2.3/x', { ...both, no: '10.0.0.0/99, ,' }, 'http://secure:3128'],
])('%s with %j goes through %s', (target, variables, url) => {
  expect(proxyFor(new URL(target), variables)?.url).toBe(url)
})

test('credentials of a proxy are kept from its address and are secrets in every spelling', () => {
  const https = 'http://me:p%40ss@secure:3128'
  const proxy = proxyFor(new URL('https://api.example.com'), { https })
  const login = Buffer.from('me:p@ss').toString('base64')
  expect(proxy).toEqual({
    url: 'http://secure:3128',
    authorization: `Basic ${login}`,
    variable: 'HTTPS_PROXY',
  })
  expect(proxySecrets({ https })).toEqual(['p%40ss', 'p@ss', login])
})

test.each(['socks5://secure:1080', 'http://', '::', 'ftp://secure'])(
  'a proxy at %s is refused in one line',
  https => {
    expect(() => proxyFor(new URL('https://api.example.com'), { https })).toThrow(
      'HTTPS_PROXY is not the address of an HTTP proxy: write it as http://HOST:PORT',
    )
  },
)

test.each([
  ['localhost', 'loopback'],
  ['a.localhost', 'loopback'],
  ['localhost.', 'loopback'],
  ['127.1', 'loopback'],
  ['2130706433', 'loopback'],
  ['0x7f.0.0.1', 'loopback'],
  ['0.0.0.0', 'loopback'],
  ['[::1]', 'loopback'],
  ['[::]', 'loopback'],
  ['[::ffff:127.0.0.1]', 'loopback'],
  ['128.0.0.1', 'public'],
  ['9.255.255.255', 'public'],
  ['10.0.0.0', 'private'],
  ['172.15.255.255', 'public'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['172.32.0.0', 'public'],
  ['192.168.1.1', 'private'],
  ['100.64.0.1', 'private'],
  ['[::ffff:10.0.0.1]', 'private'],
  ['[fd00::1]', 'private'],
  ['[64:ff9b::7f00:1]', 'private'],
  ['169.254.169.254', 'local'],
  ['[::ffff:169.254.169.254]', 'local'],
  ['[fe80::1]', 'local'],
  ['[fd00:ec2::254]', 'local'],
  ['224.0.0.1', 'local'],
  ['255.255.255.255', 'local'],
  ['[2606:4700::1]', 'public'],
  ['api.example.com', undefined],
  ['mylocalhost', undefined],
])('%s is %s', (host, kind) => {
  expect(addressKind(new URL(`https://${host}/`).hostname)).toBe(kind)
})
