import { expect, test } from "bun:test"
import { AppError } from "#plugin"
import { createBudget } from "../data/budget.ts"

/** Work that ends when it is cancelled, as a query does. */
const endless = (signal: AbortSignal): Promise<string> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(new AppError("unavailable", "The query was cancelled."))))

const codeOf = (work: Promise<unknown>): Promise<unknown> => work.then(String, ({ code }: AppError) => code)

test("runs four queries at a time, equal ones once", async () => {
  const { once } = createBudget(undefined)
  let [running, most, runs] = [0, 0, 0]
  const work = async () => {
    runs++
    running++
    most = Math.max(most, running)
    await Bun.sleep(2)
    running--
    return runs
  }
  await Promise.all(Array.from({ length: 24 }, (_, i) => once(`query ${i % 12}`, work)))
  expect({ most, runs }).toEqual({ most: 4, runs: 12 })
})

test("a query over its time fails alone, and one over the time of the call is not begun", async () => {
  const one = createBudget(undefined, { queryMs: 20 })
  const [slow, fast] = await Promise.all([codeOf(one.once("slow", endless)), codeOf(one.once("fast", async () => "answer"))])
  expect([slow, fast]).toEqual(["query_timeout", "answer"])
  const call = createBudget(undefined, { callMs: 20 })
  let isBegun = false
  const names = ["a", "b", "c", "d"].map((name) => codeOf(call.once(name, endless)))
  const fifth = codeOf(
    call.once("e", async () => {
      isBegun = true
    }),
  )
  expect(await Promise.all<unknown>([...names, fifth])).toEqual(Array.from({ length: 5 }, () => "query_timeout"))
  expect(isBegun).toBe(false)
})

test("a failed query frees its place, and a viewer who leaves cancels what runs", async () => {
  const leaving = new AbortController()
  const { once } = createBudget(leaving.signal)
  const failed = Array.from({ length: 8 }, (_, i) =>
    codeOf(once(`failing ${i}`, () => Promise.reject(new AppError("broken_reference", "Gone.")))),
  )
  expect(await Promise.all(failed)).toEqual(Array.from({ length: 8 }, () => "broken_reference"))
  const running = codeOf(once("running", endless))
  await Bun.sleep(1)
  leaving.abort()
  expect(await running).toBe("unavailable")
})
