import { useSyncExternalStore } from "preact/compat"

/** A value that several parts of the page observe. */
interface Store<Value> {
  get(): Value
  set(value: Value): void
  /** Returns the value and rerenders the component whenever it changes. */
  use(): Value
}

export function createStore<Value>(first: Value): Store<Value> {
  let value = first
  const watchers = new Set<() => void>()
  const watch = (watcher: () => void) => {
    watchers.add(watcher)
    return () => void watchers.delete(watcher)
  }
  const get = () => value
  return {
    get,
    set(next) {
      value = next
      for (const watcher of watchers) watcher()
    },
    use: () => useSyncExternalStore(watch, get),
  }
}
