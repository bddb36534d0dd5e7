/**
 * Loaded before a program (`--import`): its clock is wrong by the first of `SHIFTED_CLOCK`, as on a machine that is set wrong, and
 * after so many milliseconds by the second: `-7200000` or `-7200000,172800000@1500`. Timers and `performance` go on as they are.
 */
const [, first, later, after] = /^(-?\d+)(?:,(-?\d+)@(\d+))?$/.exec(process.env.SHIFTED_CLOCK ?? '0') ?? []
const started = performance.now()
const shift = () => Number(later !== undefined && performance.now() - started > Number(after) ? later : first)
const Right = Date
const now = () => Right.now() + shift()

globalThis.Date = new Proxy(Right, {
  construct: (target, given, made) =>
    Reflect.construct(target, given.length === 0 ? [now()] : given, made === globalThis.Date ? target : made),
  apply: () => new Right(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
})
