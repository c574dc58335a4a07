import { expect, test } from "bun:test"
import { loopTurn } from "../../src/store/turns.ts"

test("a turn lets the event loop handle what was due before it, wherever the work before it began", async () => {
  for (const begin of [() => Bun.sleep(1), () => Promise.resolve(), () => new Promise<void>((resolve) => setImmediate(resolve))]) {
    await begin()
    let isHandled = false
    setTimeout(() => {
      isHandled = true
    }, 1)
    const from = performance.now()
    while (performance.now() - from < 5);
    await loopTurn()
    expect(isHandled).toBe(true)
  }
})
