/** What befalls a service between the requests of those who sweep it. */
import type { Rng } from '../../src/lib/rng.ts'
import type { SandboxRequest } from '../../src/sandbox/server/settings.ts'
import type { Interception } from '../fault-layer/layer.ts'
import { HiddenRows } from './hidden-rows.ts'
import { plainMakers, timeOf } from './plain-records.ts'
import { shortened } from './shortened-page.ts'
import { type Happening, happenings, type SweepWeather } from './sweep-weather.ts'
import { lists, type Swept, type SweptName } from './sweeping.ts'

export const companies = ['c1', 'c2', 'c3']
export const companyOf = (index: number) => ({ id: companies[index % 3], name: `Company ${index % 3}` })

const listAsked = ({ path }: SandboxRequest): SweptName | undefined => lists.find(name => path === `/${name}`)
const isById = ({ path }: SandboxRequest): boolean => lists.some(name => path.startsWith(`/${name}/`))

export class Storm {
  readonly #rng: Rng
  readonly #weather: SweepWeather
  readonly #service: Swept
  readonly #lagging: HiddenRows
  readonly #flickering: HiddenRows
  readonly #hidden: HiddenRows
  /** Ids of what was deleted. */
  readonly gone = new Set<string>()
  /** Deletions that somebody is told of. */
  readonly told: { readonly name: SweptName; readonly id: string }[] = []
  readonly happened = Object.fromEntries(happenings.map(name => [name, 0])) as Record<Happening, number>
  isOn = false
  readonly #flickered = new Set<string>()
  #tick = 10_000
  #refusing = 0
  #isGatewayDead = false
  #isScopeChanged = false
  #hiddenFor = 0

  constructor(rng: Rng, weather: SweepWeather, service: Swept) {
    this.#rng = rng
    this.#weather = weather
    this.#service = service
    this.#lagging = new HiddenRows(service.world)
    this.#flickering = new HiddenRows(service.world)
    this.#hidden = new HiddenRows(service.world)
  }

  hits(name: Happening): boolean {
    const hit = this.isOn && this.#rng() < this.#weather.rates[name]
    if (hit) this.happened[name] += 1
    return hit
  }

  #ids(name: SweptName): string[] {
    return this.#service.world.all(name).map(({ id }) => String(id))
  }

  begin(run: 'sync' | 'sweep'): void {
    this.#isScopeChanged = false
    this.#isGatewayDead = false
    if (run === 'sync' || !this.hits('flicker')) return
    for (const name of this.#weather.lists) {
      const fresh = this.#ids(name).filter(id => this.#rng() < 0.02 && !this.#flickered.has(id))
      for (const id of fresh.slice(0, 4)) this.#flickered.add(id)
      this.#flickering.hide(name, fresh.slice(0, 4))
    }
  }

  end(): void {
    this.#lagging.show()
    this.#flickering.show()
  }

  calm(): void {
    this.isOn = false
    this.#isGatewayDead = false
    this.end()
    this.#hidden.show()
    this.#service.calm()
    this.#service.allow({ companies })
  }

  /** Before each request. */
  blow(request: SandboxRequest): void {
    if (!this.isOn || this.#isOwn(request)) return
    this.#lagging.show()
    // Rows that flicker are there for whoever knows their ids.
    if (isById(request)) this.#flickering.show()
    this.#changeList(this.#listOf())
    if (!this.#isScopeChanged && this.hits('scopeChange')) this.#changeScope()
    this.#hidePart(this.#listOf())
    const asked = listAsked(request)
    if (asked && this.hits('laggingCopy')) this.#lag(asked)
  }

  #isOwn({ key }: SandboxRequest): boolean {
    return key === this.#service.visitor
  }

  #listOf(): SweptName {
    const { lists: swept } = this.#weather
    return swept[Math.floor(this.#rng() * swept.length)] ?? 'timesheets'
  }

  #changeList(name: SweptName): void {
    if (this.hits('change')) this.#put(name, this.#rng() < 0.6 ? this.#rng() : undefined)
    if (this.hits('late')) this.#put(name, undefined, 100)
    if (this.hits('deletion')) this.remove(name)
  }

  #put(name: SweptName, place: number | undefined, back = 0): void {
    this.#tick += 1
    const at = timeOf(this.#tick - back)
    const fresh = { ...plainMakers[name](this.#tick), company: companyOf(this.#tick), createdAt: at }
    const record = place === undefined ? undefined : this.#service.world.at(name, place)
    this.#service.world.upsert(name, { ...(record ?? fresh), status: `changed ${this.#tick}`, updatedAt: at })
  }

  remove(name: SweptName): string | undefined {
    const { world } = this.#service
    const found = world.at(name, this.#rng())?.id
    if (found === undefined) return undefined
    const id = String(found)
    world.remove(name, id)
    this.gone.add(id)
    if (this.hits('event')) this.told.push({ name, id })
    return id
  }

  /** Once a run: a key that is widened and narrowed back meanwhile is taken for one that never changed. */
  #changeScope(): void {
    this.#isScopeChanged = true
    this.#service.allow({ companies: this.#rng() < 0.5 ? companies : companies.slice(0, 2) })
  }

  #hidePart(name: SweptName): void {
    this.#hiddenFor -= 1
    if (this.#hiddenFor === 0) this.#hidden.show()
    if (this.#hiddenFor > 0 || this.#weather.rates.hiding === 0) return
    const share = 0.3 + this.#rng() * 0.6
    const ids = this.#ids(name).filter(() => this.#rng() < share)
    // Twenty look deleted to everybody.
    if (ids.length <= 60 || !this.hits('hiding')) return
    this.#hidden.hide(name, ids)
    this.#hiddenFor = 5 + Math.floor(this.#rng() * 40)
  }

  #lag(name: SweptName): void {
    const age = ({ updatedAt }: { readonly updatedAt?: unknown }): string => String(updatedAt)
    const oldestFirst = this.#service.world.all(name).sort((one, two) => (age(one) < age(two) ? -1 : 1))
    const kept = Math.floor(oldestFirst.length * (0.5 + this.#rng() / 2))
    this.#lagging.hide(
      name,
      oldestFirst.slice(kept).map(({ id }) => String(id)),
    )
  }

  /** Instead of the service's own answer. */
  async answer(request: SandboxRequest): Promise<Interception> {
    if (!this.isOn || this.#isOwn(request)) return undefined
    if (isById(request)) {
      this.#isGatewayDead ||= this.hits('deadGateway')
      if (this.#isGatewayDead)
        return { status: 404, body: '{"success":false,"error":{"code":"NOT_FOUND","message":"no"}}' }
    }
    // `/me` has no part in a spell of refusals.
    if (request.path === '/me') return undefined
    if (this.#refusing === 0 && this.hits('refusals')) this.#refusing = 1 + Math.floor(this.#rng() * 6)
    if (this.#refusing > 0) {
      this.#refusing -= 1
      return { status: 403, body: '{"success":false,"error":{"code":"FORBIDDEN","message":"no"}}' }
    }
    if (!listAsked(request)) return undefined
    if (this.hits('lostRows')) return shortened(this.#service, request, () => this.#rng() < 0.9)
    return this.hits('lostPage') ? shortened(this.#service, request) : undefined
  }
}
