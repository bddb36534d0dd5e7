/** A certificate signed by itself, made when needed: no private key lies in the repository. */
import { generateKeyPairSync, sign } from 'node:crypto'

const ECDSA_SHA256 = sequence(Buffer.from('06082a8648ce3d040302', 'hex'))
const COMMON_NAME = Buffer.from('0603550403', 'hex')

export function selfSigned(host = 'localhost'): { key: string; cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const name = sequence(tagged(0x31, sequence(COMMON_NAME, tagged(0x0c, Buffer.from(host)))))
  const validity = sequence(time('250101000000Z'), time('491231235959Z'))
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const body = sequence(tagged(0x02, Buffer.from([1])), ECDSA_SHA256, name, validity, name, spki)
  const signature = tagged(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]))
  const der = sequence(body, ECDSA_SHA256, signature).toString('base64')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${der.replace(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  }
}

function time(text: string): Buffer {
  return tagged(0x17, Buffer.from(text))
}

function sequence(...parts: Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts))
}

/** DER: tag, length, content. */
function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
