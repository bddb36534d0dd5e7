/** A promise that ends, or fails, when a test says so. */
export interface Held<Value> {
  readonly promise: Promise<Value>
  end(value: Value): void
  fail(error: Error): void
}

export function held<Value = void>(): Held<Value> {
  const settle: Partial<Pick<Held<Value>, 'end' | 'fail'>> = {}
  const promise = new Promise<Value>((end, fail) => Object.assign(settle, { end, fail }))
  return { promise, ...(settle as Pick<Held<Value>, 'end' | 'fail'>) }
}

/** Lets everything run that waits for nothing but promises. */
export const settled = (): Promise<void> => new Promise(done => setImmediate(done))
