import { closeSync, fdatasyncSync, openSync } from "node:fs"
import type { ImportedVisit } from "#plugin"
import { VisitBatch, VisitPacker } from "#plugin/worker"
import { writeAll } from "./files.ts"

/** The staged file of packed visits. Each batch is one segment, and is preceded by its number of bytes and of visits. */

/** Numbers before a batch. They take 8 bytes. */
const HEAD = { bytes: 0, visits: 1 }
const HEAD_BYTES = 8

/** Writes batches to a new private file. */
export class BatchWriter {
  readonly #file: number
  readonly #events: number
  #packer = new VisitPacker()

  /** `events`: maximum number of events of a batch. A visit that has more is packed alone. */
  constructor(path: string, events: number) {
    this.#file = openSync(path, "w", 0o600)
    this.#events = events
  }

  add(visit: ImportedVisit): void {
    if (this.#packer.visits > 0 && this.#packer.events + visit.events.length > this.#events) this.#write()
    this.#packer.add(visit)
  }

  close(): void {
    if (this.#packer.visits > 0) this.#write()
    closeSync(this.#file)
  }

  #write(): void {
    const { visits } = this.#packer
    const pieces = this.#packer.finish()
    const head = new Uint32Array(2)
    head[HEAD.bytes] = pieces.reduce((sum, { length }) => sum + length, 0)
    head[HEAD.visits] = visits
    for (const bytes of [new Uint8Array(head.buffer), ...pieces]) writeAll(this.#file, bytes)
    // Events that are acknowledged would wait for all batches if these went to the disk at the end.
    fdatasyncSync(this.#file)
    this.#packer = new VisitPacker()
    // The columns of a batch are some megabytes.
    Bun.gc(true)
  }
}

/** Yields the batches of a file, without those of the first visits. They are read when they are requested. */
export async function* batchesIn(path: string, skippedVisits: number): AsyncGenerator<VisitBatch> {
  const file = Bun.file(path)
  let visits = 0
  for (let at = 0; at < file.size; ) {
    const head = new Uint32Array(await file.slice(at, at + HEAD_BYTES).arrayBuffer())
    const from = at + HEAD_BYTES
    at = from + head[HEAD.bytes]!
    visits += head[HEAD.visits]!
    if (visits <= skippedVisits) continue
    yield new VisitBatch(new Uint8Array(await file.slice(from, at).arrayBuffer()))
  }
}
