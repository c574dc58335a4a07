import { expect, test } from "bun:test"
import { notifyManager, QueryObserver } from "@tanstack/react-query"
import { createQueryClient } from "../../src/ui/api/api.ts"

/** Creates a query whose attempts the test answers, and records what a screen would show. */
function openQuery() {
  const attempts: { answer(text: string): void; fail(message: string): void }[] = []
  const observer = new QueryObserver(createQueryClient(), {
    queryKey: ["now"],
    queryFn: () =>
      new Promise<string>((resolve, reject) => {
        attempts.push({ answer: resolve, fail: (message) => reject(new Error(message)) })
      }),
  })
  const seen: string[] = []
  // Like a screen, reads the result only after all changes of a batch.
  observer.subscribe(
    notifyManager.batchCalls(() => {
      const { status, error, data } = observer.getCurrentResult()
      seen.push(error?.message ?? data ?? status)
    }),
  )
  // The library notifies in nested timers, so this waits for a number of turns instead of a time.
  const settle = async () => {
    for (let turn = 0; turn < 10; turn++) await Bun.sleep(1)
  }
  return { observer, attempts, seen, settle }
}

test("a failed query stays failed during automatic retries until one succeeds", async () => {
  const { observer, attempts, seen, settle } = openQuery()
  attempts[0]!.fail("No answer")
  await settle()
  for (const message of ["No answer again", "Never an answer"]) {
    const before = seen.length
    void observer.refetch()
    await settle()
    expect(seen.slice(before).filter((shown) => shown === "pending")).toEqual([])
    expect(observer.getCurrentResult()).toMatchObject({ status: "error", fetchStatus: "fetching" })
    attempts.at(-1)!.fail(message)
    await settle()
    expect(seen.at(-1)).toBe(message)
  }
  void observer.refetch()
  attempts.at(-1)!.answer("12")
  await settle()
  expect(seen.at(-1)).toBe("12")
  expect(observer.getCurrentResult()).toMatchObject({ status: "success", error: null })
})

test("keeps showing an answer after a later failure", async () => {
  const { observer, attempts, settle } = openQuery()
  attempts[0]!.answer("12")
  await settle()
  void observer.refetch()
  attempts[1]!.fail("No answer")
  await settle()
  expect(observer.getCurrentResult()).toMatchObject({ data: "12", status: "error" })
})

test("a reset query is pending, not failed", async () => {
  const { observer, attempts, settle } = openQuery()
  attempts[0]!.fail("No answer")
  await settle()
  observer.getCurrentQuery().reset()
  void observer.refetch()
  await settle()
  expect(observer.getCurrentResult()).toMatchObject({ status: "pending", error: null })
})
