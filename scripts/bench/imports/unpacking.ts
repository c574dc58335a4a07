/**
 * Measures unpacking and parsing of imports: time and memory of zlib and fflate for a table and for a bomb, and rows per second of
 * delimited files.
 *
 *     bun scripts/bench/imports/unpacking.ts [rows]
 */
import { deflateRawSync, gzipSync } from "node:zlib"
import { Inflate } from "fflate"
import { delimited } from "../../../plugins/imports/reading/delimited.ts"
import { fileHead } from "../../../plugins/imports/reading/text.ts"
import { MAX_UNPACKED, unpack } from "../../../plugins/imports/reading/unpack.ts"

const ROWS = Number(process.argv[2] ?? 1_000_000)
const PUSH_BYTES = 4_096
const COLUMNS = ["date", "hostname", "page", "visits", "visitors", "pageviews", "exits", "scroll", "time", "times"]

const row = (n: number): string =>
  `"2024-0${1 + (n % 9)}-1${n % 10}","shop.example","/blog/post-${n % 5_000}, part",${[97, 91, 300, 1_000, 50, 5_000, 60].map((by) => n % by)}\n`
const table = Buffer.from(`${COLUMNS}\n${Array.from({ length: ROWS }, (_, n) => row(n)).join("")}`)
const sink = { reject() {}, read() {}, warn() {}, check() {} }

/** Reports the time of some work and the most memory that it took. `note` is called while it runs. */
async function measure(name: string, work: (note: () => void) => Promise<string>): Promise<void> {
  Bun.gc(true)
  const [before, startedAt] = [process.memoryUsage().rss, performance.now()]
  let most = before
  const result = await work(() => {
    most = Math.max(most, process.memoryUsage().rss)
  })
  const ms = Math.round(performance.now() - startedAt)
  console.log(`${name}: ${result} in ${ms} ms, ${Math.round((most - before) / 2 ** 20)} MiB of memory`)
}

async function withZlib(packed: Uint8Array, note: () => void): Promise<string> {
  const gzip = { name: "data.gz", content: new Blob([packed as Uint8Array<ArrayBuffer>]) }
  let bytes = 0
  try {
    for (const file of await unpack([gzip], MAX_UNPACKED.staged))
      for await (const piece of file.chunks()) {
        bytes += piece.length
        note()
      }
  } catch {
    return `stopped after ${bytes} bytes`
  }
  return `${bytes} bytes`
}

async function withFflate(packed: Uint8Array, note: () => void): Promise<string> {
  let bytes = 0
  const inflate = new Inflate((piece) => {
    bytes += piece.length
    note()
  })
  for (let at = 0; at < packed.length; at += PUSH_BYTES) inflate.push(packed.subarray(at, at + PUSH_BYTES))
  return `${bytes} bytes`
}

const zeros = Buffer.alloc(256 * 1024 ** 2)
await measure("zlib, table", (note) => withZlib(gzipSync(table), note))
await measure("fflate, table", (note) => withFflate(deflateRawSync(table), note))
await measure("zlib, bomb", (note) => withZlib(gzipSync(zeros), note))
await measure("fflate, bomb", (note) => withFflate(deflateRawSync(zeros), note))
await measure("delimited rows", async (note) => {
  const [file] = await unpack([{ name: "table.csv", content: new Blob([table]) }], MAX_UNPACKED.staged)
  let rows = 0
  for await (const group of delimited({ ...file!, ...fileHead("table.csv", file!.head) }, { required: COLUMNS }, {}, sink)) {
    rows += group.length
    note()
  }
  return `${rows} rows`
})
