import { expect, test } from "bun:test"
import { recordsOf } from "../../src/ingest/place/mmdb.ts"
import { placeFileBytes } from "./place-file.ts"

const ROME = { city: { geoname_id: 3_169_070, names: { en: "Rome" } } }
const PISA = { country: { iso_code: "IT" }, city: { names: { en: "Pisa" } } }

/** A file with both records, followed by the given bytes: another value, or an invalid one. */
function fileWith(...bytes: number[]): Buffer {
  const file = Buffer.from(placeFileBytes({ "9.9.9.9": ROME, "8.8.8.8": PISA }))
  const end = file.lastIndexOf("MaxMind.com") - 3
  return Buffer.concat([file.subarray(0, end), Buffer.from(bytes), file.subarray(end)])
}

test.each<[string, number[], unknown[]]>([
  ["nothing else", [], []],
  ["a separate string", [0x44, ...Buffer.from("Lucca").subarray(0, 4)], ["Lucc"]],
  ["a pointer to the first record", [0x20, 0], [ROME]],
  ["a pointer beyond the end of the file", [0x38, 255, 255, 255, 255], []],
  ["a truncated string", [0x5f, 255, 255, 255], []],
  ["an unknown type", [0x01, 99], []],
])("reads all records of a file, whatever their addresses; they are followed by %s", (_, bytes, more) => {
  expect([...recordsOf(fileWith(...bytes))]).toEqual([ROME, PISA, ...more])
})
