/** The ways in which one address of a server can be written, and the routes that a server has. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'

export interface ServerRoute {
  readonly method: string
  /** With `:name` for what varies. */
  readonly url: string
}

/** Runs `start`, and returns what it made with every route of the servers that it started, as they declared them. */
export async function withRoutes<Made>(
  start: () => Promise<Made>,
): Promise<{ readonly made: Made; readonly routes: readonly ServerRoute[] }> {
  const routes: ServerRoute[] = []
  const watch = (message: unknown): void => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', ({ method, url }) => {
      for (const one of [method].flat()) routes.push({ method: one, url })
    })
  }
  subscribe('fastify.initialization', watch)
  try {
    return { made: await start(), routes }
  } finally {
    unsubscribe('fastify.initialization', watch)
  }
}

const hex = (character: string): string => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`

/** The path in other words: some that a router takes for the same, and some that it must not. */
export function spellingsOf(path: string, host: string): readonly string[] {
  const first = path.slice(0, 1) + hex(path[1] ?? 'a') + path.slice(2)
  const last = path.slice(0, -1) + hex(path.at(-1) ?? 'a')
  return [
    path,
    first,
    first.toUpperCase(),
    last,
    `/${[...path.slice(1)].map(letter => (letter === '/' ? letter : hex(letter))).join('')}`,
    path.replaceAll('/', '%2f'),
    path.replaceAll('/', '%2F'),
    `/${path.slice(1).replace('/', '%2f')}`,
    first.replace('%', '%25'),
    `http://${host}${path}`,
    `HTTP://${host}${path}`,
    `https://${host}${first}`,
    `http://localhost${path}`,
    `http://user@${host}${path}`,
    `//${host}${path}`,
    `/${path}`,
    `//${path}`,
    path.replaceAll('/', '//'),
    `/.${path}`,
    `/x/..${path}`,
    `/%2e${path}`,
    path.replaceAll('/', '\\'),
    `/${path.slice(1).replaceAll('/', '/./')}`,
    path.toUpperCase(),
    `/${path.slice(1, 2).toUpperCase()}${path.slice(2)}`,
    `${path}/`,
    `${path}//`,
    `${path}%2f`,
    `${path}/.`,
    `${path};v=1`,
    `${path}.json`,
    `${path}%00`,
    `${path}%20`,
    `${path}%09`,
    `${path}?`,
    `${path}?/`,
    `${path}?token=1&company=x`,
    `${path}#top`,
    `/%ef%bd%81${path.slice(2)}`,
    `${path}%zz`,
    `${path}/${'x'.repeat(200)}`,
  ]
}

export const methodsTried = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'TRACE', 'QUERY']
