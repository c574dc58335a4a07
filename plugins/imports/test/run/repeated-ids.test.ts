import { expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "#plugin/test"
import { RepeatedIds } from "../../run/stage/repeated-ids.ts"

test("finds every event whose id occurred before, in memory and in files", () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "ids")
  for (const count of [0, 1, 1_000, 200_000]) {
    const ids = new RepeatedIds(path)
    const expected: number[] = []
    // Every third event repeats the id of one before it, and some events have no id.
    for (let number = 0; number < count; number++) {
      if (number % 100 === 50) continue
      const isRepeated = number % 3 === 2
      ids.add(`event ${isRepeated ? number - 2 : number}`, number)
      if (isRepeated && (number - 2) % 100 !== 50) expected.push(number)
    }
    expect(existsSync(path)).toBe(count > 100_000)
    const isRepeated = ids.find()
    expect(Array.from({ length: count + 10 }, (_, number) => number).filter(isRepeated)).toEqual(expected)
    expect(existsSync(path)).toBe(false)
  }
})
