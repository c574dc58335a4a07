import { expect, test } from "bun:test"
import { inTurn } from "../../src/ui/parts/loading.ts"

/** Resolves in a task that was asked for now. */
const task = () => new Promise((resolve) => setImmediate(resolve))

test("work has its turn in the order it came, one piece per task, also what is asked for meanwhile", async () => {
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
