import type { FaultKind } from "../store/events/fault.ts"

/** What keeps events from being stored. */
export type Hindrance = FaultKind | "queue_full"

/** Told when storing begins to fail, and when it works again. */
export type OnHindrance = (kind: Hindrance, hinders: boolean) => void

/** What keeps events from being stored at the moment. */
export class Hindrances {
  readonly #present = new Set<Hindrance>()
  readonly #onChange: OnHindrance

  constructor(onChange: OnHindrance) {
    this.#onChange = onChange
  }

  /** Nothing can be written until somebody acts. */
  get isClosed(): boolean {
    return this.has("full") || this.has("damaged") || this.has("fsync")
  }

  has(kind: Hindrance): boolean {
    return this.#present.has(kind)
  }

  /** Single I/O errors are each told: three of them in a minute mean more than one. */
  enter(kind: Hindrance): void {
    if (this.#present.has(kind) && kind !== "io") return
    this.#present.add(kind)
    this.#onChange(kind, true)
  }

  leave(kind: Hindrance): void {
    if (this.#present.delete(kind)) this.#onChange(kind, false)
  }

  /** Events are on disk: nothing has kept them from it. Damage stays, whatever could still be written beside it. */
  leaveAll(): void {
    for (const kind of [...this.#present]) if (kind !== "damaged") this.leave(kind)
  }
}
