/** Runs work by key, one after another. Other keys are not held up. */
export type InTurn = <T>(key: number, work: () => Promise<T>) => Promise<T>

export function createInTurn(): InTurn {
  const last = new Map<number, Promise<unknown>>()
  return async (key, work) => {
    const before = last.get(key)
    const turn = (before ?? Promise.resolve()).then(work, work)
    const settled = turn.catch(() => {})
    last.set(key, settled)
    void settled.then(() => last.get(key) === settled && last.delete(key))
    return turn
  }
}
