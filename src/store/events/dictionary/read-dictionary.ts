import type { Database } from "bun:sqlite"
import type { DictionaryName } from "../../../domain/dimension.ts"
import type { ColumnCache } from "../cache.ts"
import type { Dictionary } from "../part.ts"
import { readState } from "../tail/tails.ts"
import { fixedTexts, nextNumber, numberOf } from "./texts.ts"

/** Number of texts that are read at once. */
const BLOCK_BITS = 8
const BLOCK_LOW = 2 ** BLOCK_BITS - 1

/** Memory of a text in addition to its characters, and of a block in addition to its texts. */
const TEXT_BYTES = 40
const BLOCK_BYTES = 200

/** Largest share of the cache of columns that texts may take, and what they may take in any case. */
const SHARE = 4
const MIN_BYTES = 2 << 20

/** A report cannot be completed, because texts that it refers to were erased since it began. It can begin again. */
export class OutdatedSnapshot extends Error {
  override name = "OutdatedSnapshot"
}

interface Block {
  texts: (string | undefined)[]
  bytes: number
  /** Where the block is listed. */
  owner: (Block | undefined)[]
  place: number
  isUsed: boolean
}

/** Blocks of texts of all dictionaries of a reader. They take their memory from the cache of columns. */
export class TextBlocks {
  readonly #blocks: Block[] = []
  readonly #cache: Pick<ColumnCache, "reserve">
  readonly #limit: number
  #bytes = 0
  #next = 0

  constructor(cache: Pick<ColumnCache, "limit" | "reserve">) {
    this.#cache = cache
    this.#limit = Math.max(MIN_BYTES, cache.limit / SHARE)
  }

  add(block: Block): void {
    this.#change(block.bytes)
    while (this.#bytes > this.#limit && this.#blocks.length > 0) this.#evict()
    block.owner[block.place] = block
    this.#blocks.push(block)
  }

  clear(): void {
    for (const { owner, place } of this.#blocks.splice(0)) owner[place] = undefined
    this.#change(-this.#bytes)
  }

  /** Evicts a block that was not used since the last round. */
  #evict(): void {
    const next = () => {
      this.#next = (this.#next + 1) % this.#blocks.length
      return this.#blocks[this.#next]!
    }
    let block = next()
    for (; block.isUsed; block = next()) block.isUsed = false
    if (block.owner[block.place] === block) block.owner[block.place] = undefined
    this.#blocks[this.#next] = this.#blocks.at(-1)!
    this.#blocks.pop()
    this.#change(-block.bytes)
  }

  #change(bytes: number): void {
    this.#bytes += bytes
    this.#cache.reserve(bytes)
  }
}

/** A dictionary of a reader. Texts are read in blocks when they are asked for, so that a large dictionary needs little memory. */
export class ReadDictionary implements Dictionary {
  readonly #db: Database
  readonly #blocks: TextBlocks
  readonly #siteId: number
  readonly #name: DictionaryName
  readonly #fixed: readonly string[]
  readonly #epoch: number
  readonly #own: (Block | undefined)[] = []
  #size: number

  /** `epoch` is the number of sweeps at the time of the snapshot. Texts that a later sweep may have removed cannot be read. */
  constructor(db: Database, blocks: TextBlocks, { siteId, name, epoch }: { siteId: number; name: DictionaryName; epoch: number }) {
    this.#db = db
    this.#blocks = blocks
    this.#siteId = siteId
    this.#name = name
    this.#fixed = fixedTexts(name)
    this.#epoch = epoch
    this.#size = nextNumber(db, siteId, name)
  }

  get size(): number {
    return this.#size
  }

  text(id: number): string {
    if (id < this.#fixed.length) return this.#fixed[id]!
    if (id >= this.#size) return ""
    const place = id >>> BLOCK_BITS
    const block = this.#own[place]
    if (block === undefined) return this.#read(place).texts[id & BLOCK_LOW] ?? ""
    block.isUsed = true
    return block.texts[id & BLOCK_LOW] ?? ""
  }

  find(text: string): number | undefined {
    return text === "" ? undefined : this.#unswept(() => numberOf(this.#db, this.#siteId, this.#name, text))
  }

  /** Includes the texts that were added since the last call. */
  follow(): void {
    const size = nextNumber(this.#db, this.#siteId, this.#name)
    // The last block was read when it had fewer texts. It stays listed until it is evicted.
    if (size > this.#size) this.#own[(this.#size - 1) >>> BLOCK_BITS] = undefined
    this.#size = size
  }

  #read(place: number): Block {
    const from = place << BLOCK_BITS
    const sql = "select id, value from dictionary where site_id = ? and name = ? and id between ? and ?"
    const read = this.#db.query<{ id: number; value: string }, [number, string, number, number]>(sql)
    const rows = this.#unswept(() => read.all(this.#siteId, this.#name, from, from + BLOCK_LOW))
    const block: Block = { texts: [], bytes: BLOCK_BYTES, owner: this.#own, place, isUsed: true }
    for (const { id, value } of rows) {
      block.texts[id - from] = value
      block.bytes += TEXT_BYTES + value.length
    }
    this.#blocks.add(block)
    return block
  }

  /** Reads in one transaction with the number of sweeps. */
  #unswept<T>(read: () => T): T {
    return this.#db.transaction(() => {
      if (readState(this.#db, "dictionary_epoch") !== this.#epoch) throw new OutdatedSnapshot("Texts were erased meanwhile")
      return read()
    })()
  }
}
