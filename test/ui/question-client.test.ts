import { expect, test } from "bun:test"
import { notifyManager, QueryObserver } from "@tanstack/react-query"
import { createQueryClient } from "../../src/ui/api/api.ts"

/** A question whose attempts are answered by hand, and what a screen was shown of it. */
function asked() {
  const attempts: { answer(text: string): void; fail(message: string): void }[] = []
  const observer = new QueryObserver(createQueryClient(), {
    queryKey: ["now"],
    queryFn: () =>
      new Promise<string>((resolve, reject) => {
        attempts.push({ answer: resolve, fail: (message) => reject(new Error(message)) })
      }),
  })
  const seen: string[] = []
  // As a screen does: it looks when all that changes at once has changed.
  observer.subscribe(
    notifyManager.batchCalls(() => {
      const { status, error, data } = observer.getCurrentResult()
      seen.push(error?.message ?? data ?? status)
    }),
  )
  // The library tells in timers that set timers: so many turns however long each of them takes.
  const settle = async () => {
    for (let turn = 0; turn < 10; turn++) await Bun.sleep(1)
  }
  return { observer, attempts, seen, settle }
}

test("a question that failed stays failed while it is asked again by itself, until it is answered", async () => {
  const { observer, attempts, seen, settle } = asked()
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

test("an answer that was shown stays over a later failure", async () => {
  const { observer, attempts, settle } = asked()
  attempts[0]!.answer("12")
  await settle()
  void observer.refetch()
  attempts[1]!.fail("No answer")
  await settle()
  expect(observer.getCurrentResult()).toMatchObject({ data: "12", status: "error" })
})

test("a question that is begun anew has not failed", async () => {
  const { observer, attempts, settle } = asked()
  attempts[0]!.fail("No answer")
  await settle()
  observer.getCurrentQuery().reset()
  void observer.refetch()
  await settle()
  expect(observer.getCurrentResult()).toMatchObject({ status: "pending", error: null })
})
