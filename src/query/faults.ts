import { type Fault, refuseFaults } from "../domain/error.ts"
import { fault, inDocumentOrder } from "../domain/shape.ts"

/** Kept of each field of a body: an answer shows no more, and a hostile body has thousands. */
const KEPT = 20

/** What is wrong with a JSON body. Its fields are read in any order, what is in each of them in the order of the document. */
export class Faults {
  readonly #byField = new Map<string, Fault[]>()

  /** `says` goes on after the name of what the pointer leads to: "must be a list". */
  refuse(pointer: string, code: string, says: string, allowed?: Fault["allowed"]): undefined {
    this.add([fault(pointer, code, says, allowed)])
  }

  add(found: readonly Fault[]): void {
    for (const each of found) {
      const [, field = ""] = each.pointer.split("/")
      const kept = this.#byField.get(field) ?? []
      this.#byField.set(field, kept)
      if (kept.length < KEPT) kept.push(each)
    }
  }

  /** Whether a field of the body and all that is in it is as it should be, as far as it has been read. */
  isSound(field: string): boolean {
    return !this.#byField.has(field)
  }

  /** Throws `validation_failed` with all faults at once, in document order; returns quietly when there are none. */
  refuseAll(body: unknown): void {
    refuseFaults(inDocumentOrder([...this.#byField.values()].flat(), body))
  }
}

/** A list of the body with no more and no fewer items than it may have; undefined when it is none. */
export function readList(value: unknown, pointer: string, size: { min: number; max: number }, faults: Faults): unknown[] | undefined {
  if (!Array.isArray(value)) return faults.refuse(pointer, "invalid_type", "must be a list")
  if (value.length >= size.min && value.length <= size.max) return value
  const code = value.length < size.min ? "too_few" : "too_many"
  return faults.refuse(pointer, code, `has ${size.min === size.max ? size.min : `${size.min} to ${size.max}`} items`, size)
}
