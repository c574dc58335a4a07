import { expect, test } from "bun:test"
import { createPasswords } from "../../src/services/passwords.ts"

const HASH = Bun.password.hashSync("a walk along the river", { algorithm: "argon2id", memoryCost: 64, timeCost: 1 })
const REST_MS = 400

/** By this clock each hash takes so long, however long it really takes. */
function slowClock() {
  let at = 0
  return {
    monotonic: () => {
      at += REST_MS
      return at
    },
  }
}

test("after each hash its turn rests as long as it took; whoever is alone waits for no rest", async () => {
  const passwords = createPasswords({ atOnce: 1, clock: slowClock() })
  const begun = performance.now()
  const done: number[] = []
  const verify = async () => {
    expect(await passwords.verify("a walk along the river", HASH)).toMatchObject({ isRight: true })
    done.push(performance.now() - begun)
  }
  await Promise.all([verify(), verify(), verify()])
  expect(done[0]!).toBeLessThan(REST_MS)
  expect(done[1]! - done[0]!).toBeGreaterThanOrEqual(REST_MS - 5)
  expect(done[2]! - done[1]!).toBeGreaterThanOrEqual(REST_MS - 5)
})

test("a hash that fails gives its turn on too", async () => {
  const passwords = createPasswords({ atOnce: 1, clock: slowClock() })
  await expect(passwords.verify("x", "no hash at all")).rejects.toThrow()
  expect(await passwords.verify("a walk along the river", HASH)).toMatchObject({ isRight: true })
})
