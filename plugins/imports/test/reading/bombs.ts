import { gzipSync } from "node:zlib"
import { type WrittenEntry, zipOf } from "./zip-bytes.ts"

/** An archive with an export that would unpack to far more than it has, or otherwise exceeds the limits of archives. */
export interface Bomb {
  bomb: string
  file(): { name: string; content: Uint8Array }
}

const MIB = 1024 ** 2
const packed = (name: string, content: Uint8Array) => ({ name, content })
const HEADER = Buffer.from("added_iso,path,session_id,hostname,datapoint,note\n")
const ROW = Buffer.from(`2026-10-01T10:00:00Z,/,a,shop.example,pageview,${"x".repeat(4_000)}\n`)
/** An export of one line after another, which shrinks to less than a hundredth. */
const rows = (mebibytes: number) => {
  const content = Buffer.alloc(mebibytes * MIB, ROW)
  HEADER.copy(content)
  return content
}
const shared = (count: number): WrittenEntry[] => [
  { name: "kernel", content: rows(16) },
  ...Array.from({ length: count }, (_, number) => ({ name: `copy${number}`, content: rows(16), offset: 0 })),
]
export const BOMBS: readonly Bomb[] = [
  {
    bomb: "an entry of 300 MiB of rows",
    file: () => packed("a.zip", zipOf([{ name: "a", content: rows(300) }])),
  },
  {
    bomb: "150 entries of 2 MiB of rows",
    file: () => packed("a.zip", zipOf(Array.from({ length: 150 }, (_, at) => ({ name: `${at}`, content: rows(2) })))),
  },
  { bomb: "a gzip of 300 MiB of rows", file: () => packed("a.gz", gzipSync(rows(300))) },
  {
    bomb: "a gzip of many members",
    file: () => packed("a.gz", Buffer.concat(Array(200).fill(gzipSync(rows(1))))),
  },
  {
    bomb: "201 entries",
    file: () => packed("a.zip", zipOf(Array.from({ length: 201 }, (_, at) => ({ name: `${at}`, content: HEADER })))),
  },
  {
    bomb: "a zip in a zip",
    file: () => packed("a.zip", zipOf([{ name: "b.csv", content: zipOf([{ name: "c", content: HEADER }]) }])),
  },
  {
    bomb: "a gzip in a zip",
    file: () => packed("a.zip", zipOf([{ name: "b.csv", content: gzipSync(HEADER), method: 0 }])),
  },
  { bomb: "a gzip in a gzip", file: () => packed("a.gz", gzipSync(gzipSync(HEADER))) },
  { bomb: "entries that share their data", file: () => packed("a.zip", zipOf(shared(50))) },
  {
    bomb: "an entry longer than stated",
    file: () => packed("a.zip", zipOf([{ name: "a", content: rows(64), size: 10 }])),
  },
  {
    bomb: "a directory of a billion entries",
    file: () => packed("a.zip", zipOf([{ name: "a", content: HEADER }], { entries: 1e9, isZip64: true })),
  },
  {
    bomb: "a directory of 3 GiB",
    file: () => packed("a.zip", zipOf([{ name: "a", content: HEADER }], { directoryBytes: 3 * 1024 ** 3, isZip64: true })),
  },
]
