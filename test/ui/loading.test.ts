import { expect, test } from "bun:test"
import { inTurn } from "../../src/ui/parts/loading.ts"

/** Resolves in the next task. */
const task = () => new Promise((resolve) => setImmediate(resolve))

test("runs queued work in order, one piece per task, including work queued in the meantime", async () => {
  const done: string[] = []
  const tasks: string[] = []
  const work = (name: string) => () => {
    done.push(name)
    queueMicrotask(() => tasks.push(done.join("")))
  }
  inTurn(work("a"))
  inTurn(() => {
    work("b")()
    inTurn(work("d"))
  })
  inTurn(work("c"))
  expect(done).toEqual([])
  while (done.length < 4) await task()
  expect(tasks).toEqual(["a", "ab", "abc", "abcd"])
})
