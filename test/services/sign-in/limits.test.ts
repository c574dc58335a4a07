import { expect, test } from "bun:test"
import { createSignInLimits } from "../../../src/services/sign-in/limits.ts"
import { fixedClock } from "../../kit.ts"

const figures = { perMinute: 1_000, failuresPerHour: 1_000, failuresBeforeDelay: 1_000, delaySeconds: 1, maxDelaySeconds: 60 }

test.each([
  ["the only process of a catalog", undefined, 20],
  ["one of two nodes", { live: () => [1, 2] }, 10],
  ["one of three nodes", { live: () => [1, 2, 3] }, 6],
])("%s accepts its share of an account's wrong codes from all networks", (_, nodes, share) => {
  const limits = createSignInLimits({ clock: fixedClock("2026-11-21T12:00:00Z"), figures, nodes })
  const fail = (network: number) => limits.code({ address: `10.0.${network}.1`, network: `10.0.${network}.0/24` }, 7).fail()
  const isPaused = Array.from({ length: share }, (_, network) => fail(network))
  expect(isPaused).toEqual([...Array(share - 1).fill(false), true])
  expect(() => fail(200)).toThrow("Too many attempts")
})
