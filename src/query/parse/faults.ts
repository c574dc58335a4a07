import { type Fault, refuseFaults } from "../../domain/error.ts"
import { fault, inDocumentOrder } from "../../domain/shape.ts"

/** Maximum number of faults per field: a response shows no more, and a hostile body has thousands. */
const MAX_FAULTS = 20

/** The faults of a JSON body. Its fields may be read in any order; the contents of each field are read in document order. */
export class Faults {
  readonly #byField = new Map<string, Fault[]>()

  /** Adds a fault. `detail` continues a sentence that starts with the name of the value: "must be a list". */
  refuse(pointer: string, code: string, detail: string, allowed?: Fault["allowed"]): undefined {
    this.add([fault(pointer, code, detail, allowed)])
  }

  add(found: readonly Fault[]): void {
    for (const each of found) {
      const [, field = ""] = each.pointer.split("/")
      const kept = this.#byField.get(field) ?? []
      this.#byField.set(field, kept)
      if (kept.length < MAX_FAULTS) kept.push(each)
    }
  }

  /** Returns whether no fault was found so far in a field of the body. */
  isSound(field: string): boolean {
    return !this.#byField.has(field)
  }

  /** Throws `validation_failed` with all faults in document order. Does nothing when there are none. */
  refuseAll(body: unknown): void {
    refuseFaults(inDocumentOrder([...this.#byField.values()].flat(), body))
  }
}

/** Reads a list whose length is within bounds. Returns undefined, and adds a fault, for anything else. */
export function readList(value: unknown, pointer: string, size: { min: number; max: number }, faults: Faults): unknown[] | undefined {
  if (!Array.isArray(value)) return faults.refuse(pointer, "invalid_type", "must be a list")
  if (value.length >= size.min && value.length <= size.max) return value
  const code = value.length < size.min ? "too_few" : "too_many"
  return faults.refuse(pointer, code, `must have ${size.min === size.max ? size.min : `${size.min} to ${size.max}`} items`, size)
}
