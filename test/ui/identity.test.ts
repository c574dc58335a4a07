import { expect, test } from "bun:test"
import { identityRequest, Problem, withIdentity } from "../../src/ui/api/api.ts"

/** Sends a request whose attempts the test answers. */
function sendRequest() {
  const attempts: { answer(text: string): void; refuse(): void }[] = []
  const result = withIdentity({}, () => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    attempts.push({ answer: resolve, refuse: () => reject(new Problem(401, "session_required", "Sign in.")) })
    return promise
  })
  return { attempts, result }
}

test("requests that are refused together ask for one sign-in and are sent again after it", async () => {
  const [one, other] = [sendRequest(), sendRequest()]
  one.attempts[0]!.refuse()
  other.attempts[0]!.refuse()
  await Bun.sleep(0)
  identityRequest.get()!.done()
  await Bun.sleep(0)
  one.attempts[1]!.answer("one")
  other.attempts[1]!.answer("other")
  expect(await Promise.all([one.result, other.result])).toEqual(["one", "other"])
  expect(identityRequest.get()).toBeUndefined()
})

test("a request that was sent before a sign-in and is refused after it is sent again without asking once more", async () => {
  const [early, late] = [sendRequest(), sendRequest()]
  early.attempts[0]!.refuse()
  await Bun.sleep(0)
  identityRequest.get()!.done()
  await Bun.sleep(0)
  late.attempts[0]!.refuse()
  await Bun.sleep(0)
  expect(identityRequest.get()).toBeUndefined()
  early.attempts[1]!.answer("early")
  late.attempts[1]!.answer("late")
  expect(await Promise.all([early.result, late.result])).toEqual(["early", "late"])
})

test("a session that ends after a sign-in asks for the next one", async () => {
  const request = sendRequest()
  request.attempts[0]!.refuse()
  await Bun.sleep(0)
  expect(identityRequest.get()?.reason).toBe("signed-out")
  identityRequest.get()!.cancel("Cancelled")
  expect(request.result).rejects.toThrow("Cancelled")
})
