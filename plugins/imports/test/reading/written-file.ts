import { fileHead } from "../../reading/text.ts"
import type { RejectCode } from "../../source.ts"

/** Returns a file whose content comes in pieces of a few bytes, so that lines, records and characters are split between them. */
export function writtenFile(content: string | Uint8Array, pieceBytes = 7) {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content
  return {
    ...fileHead("data.csv", bytes.subarray(0, 65_536)),
    async *chunks() {
      for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
    },
  }
}

/** Collects what a reader reports. */
export function collectingSink() {
  const collected = { read: 0, rejects: [] as [line: number, code: RejectCode, excerpt: string][], warnings: [] as string[] }
  return {
    ...collected,
    collected,
    reject: (_file: string, ...reject: [line: number, code: RejectCode, excerpt: string]) => void collected.rejects.push(reject),
    read(rows: number) {
      collected.read += rows
    },
    warn: (_code: string, message: string) => void collected.warnings.push(message),
    check() {},
  }
}

/** Collects groups of things into one list. */
export async function allOf<Thing>(groups: AsyncIterable<readonly Thing[]>): Promise<Thing[]> {
  const all: Thing[] = []
  for await (const group of groups) all.push(...group)
  return all
}
