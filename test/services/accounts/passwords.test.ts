import { afterEach, expect, test } from "bun:test"
import { scryptSync } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import type { Clock } from "../../../src/domain/clock.ts"
import { createHashThreads } from "../../../src/services/sign-in/hash-threads.ts"
import { createPasswords } from "../../../src/services/sign-in/passwords.ts"
import { WORKERS } from "../../kit.ts"

const PASSWORD = "a walk along the river"
const CHEAP = { algorithm: "argon2id", memoryCost: 64, timeCost: 1 } as const
const HASH = Bun.password.hashSync(PASSWORD, CHEAP)
/** Cost of a hash that takes some hundred milliseconds. */
const SLOW = { N: 65_536, r: 8, p: 4 } as const

/** Position of the priority in a thread's stat line, counted after its name. */
const NICE = 16

const REST_MS = 400

const realClock = { monotonic: () => performance.now() }

/** A clock by which each hash takes REST_MS, regardless of its real duration. */
function slowClock(): Pick<Clock, "monotonic"> {
  let at = 0
  return {
    monotonic: () => {
      at += REST_MS
      return at
    },
  }
}

/** Threads and their priorities are visible only on Linux. */
const onLinux = test.skipIf(process.platform !== "linux")

const opened: { close(): void }[] = []
afterEach(() => {
  for (const each of opened.splice(0)) each.close()
})

function open<T extends { close(): void }>(made: T): T {
  opened.push(made)
  return made
}

const passwords = (atOnce: number, clock: Pick<Clock, "monotonic"> = realClock) =>
  open(createPasswords({ workerUrl: WORKERS.hash, niceness: 0, atOnce, clock }))

test("verifies a password only against its own hash, and none for an unknown user", async () => {
  const { hash, verify } = passwords(1)
  const made = await hash(PASSWORD)
  expect(made).toStartWith("$argon2id$v=19$m=19456,t=2,p=1$")
  expect(await verify(PASSWORD, made)).toEqual({ isRight: true, outdated: false })
  expect(await verify("a walk along the road", made)).toEqual({ isRight: false, outdated: false })
  expect(await verify(PASSWORD, HASH)).toEqual({ isRight: true, outdated: true })
  expect(await verify(PASSWORD, null)).toEqual({ isRight: false, outdated: false })
})

test("derives the same secret each time, and another one with another salt", async () => {
  const { derive } = passwords(1)
  const [one, same, other] = await Promise.all([1, 1, 2].map((salt) => derive("xxxxx-xxxxx", Uint8Array.of(salt))))
  expect(one).toEqual(new Uint8Array(scryptSync("xxxxx-xxxxx", Uint8Array.of(1), 32, { N: 16_384, r: 8, p: 1 })))
  expect(one).toEqual(same!)
  expect(one).not.toEqual(other!)
  expect(one).toHaveLength(32)
})

test("after a failed hash the next one runs on the same thread", async () => {
  const { verify } = passwords(1)
  const [broken, whole] = await Promise.allSettled([verify("x", "no hash at all"), verify(PASSWORD, HASH)])
  expect(broken.status).toBe("rejected")
  expect(whole).toMatchObject({ status: "fulfilled", value: { isRight: true } })
})

test("pauses after each hash for as long as it took, except when nothing else is queued", async () => {
  const { verify } = passwords(1, slowClock())
  await verify(PASSWORD, HASH) // starts the thread
  await Bun.sleep(REST_MS + 50)
  const begun = performance.now()
  const done: number[] = []
  const timed = async () => {
    expect(await verify(PASSWORD, HASH)).toMatchObject({ isRight: true })
    done.push(performance.now() - begun)
  }
  await Promise.all([timed(), timed(), timed()])
  expect(done[0]!).toBeLessThan(REST_MS)
  expect(done[1]! - done[0]!).toBeGreaterThanOrEqual(REST_MS - 5)
  expect(done[2]! - done[1]!).toBeGreaterThanOrEqual(REST_MS - 5)
})

test("computes low-priority hashes when no other one is queued", async () => {
  const { verify, lowPriority } = passwords(1)
  const done: string[] = []
  const run = (name: string, by: Pick<typeof lowPriority, "verify">) => by.verify(PASSWORD, HASH).then(() => done.push(name))
  await Promise.all([run("running", lowPriority), run("low", lowPriority), run("low", lowPriority), run("normal", { verify })])
  expect(done).toEqual(["running", "normal", "low", "low"])
})

onLinux("computes as many hashes at a time as are allowed", async () => {
  const { derive } = open(createPasswords({ workerUrl: WORKERS.hash, niceness: 3, atOnce: 2, clock: realClock }))
  const all = Promise.all(Array.from({ length: 6 }, (_, salt) => derive("secret", Uint8Array.of(salt))))
  let most = 0
  while (!(await Promise.race([all.then(() => true), Bun.sleep(1).then(() => false)]))) most = Math.max(most, workersAt(3))
  expect(most).toBe(2)
})

onLinux("hash threads have a lower priority than all others", async () => {
  const hashing = open(createHashThreads({ workerUrl: WORKERS.hash, niceness: 10 }))
  await hashing.run<"verify">({ do: "verify", password: PASSWORD, hash: HASH })
  expect(workersAt(10)).toBe(1)
  expect(threads().find(({ id }) => id === process.pid)?.nice).toBe(0)
})

onLinux("ends an idle thread and starts a new one for the next hash", async () => {
  const hashing = open(createHashThreads({ workerUrl: WORKERS.hash, niceness: 4, keptMs: 1 }))
  const verify = () => hashing.run<"verify">({ do: "verify", password: PASSWORD, hash: HASH })
  expect(await verify()).toBe(true)
  while (workersAt(4) > 0) await Bun.sleep(5)
  expect(await verify()).toBe(true)
})

onLinux("replaces a thread before the engine optimizes its code", async () => {
  const hashing = open(createHashThreads({ workerUrl: WORKERS.hash, niceness: 5 }))
  const seen = new Set<number>()
  for (let run = 0; run < 250; run++) {
    await hashing.run<"verify">({ do: "verify", password: PASSWORD, hash: HASH })
    for (const { id, name, nice } of threads()) if (name === "Worker" && nice === 5) seen.add(id)
  }
  expect(seen.size).toBe(2)
})

test("closing rejects queued hashes without starting a thread for them", async () => {
  const { verify, close } = open(createPasswords({ workerUrl: WORKERS.hash, niceness: 2, atOnce: 1, clock: realClock }))
  const waits = Promise.allSettled([verify(PASSWORD, HASH), verify(PASSWORD, HASH), verify(PASSWORD, HASH)])
  await Bun.sleep(0)
  close()
  const late = verify(PASSWORD, HASH)
  for (const outcome of [...(await waits), ...(await Promise.allSettled([late]))]) {
    expect(outcome).toMatchObject({ status: "rejected", reason: { code: "unavailable" } })
  }
})

test("a thread that cannot be started fails only its hash", async () => {
  const hashing = open(createHashThreads({ workerUrl: `${WORKERS.hash}.gone`, niceness: 0 }))
  await expect(hashing.run<"verify">({ do: "verify", password: PASSWORD, hash: HASH })).rejects.toThrow("A hash failed")
})

test("closing rejects a running hash", async () => {
  const hashing = open(createHashThreads({ workerUrl: WORKERS.hash, niceness: 10 }))
  const waits = hashing.run<"derive">({ do: "derive", secret: "x", salt: Uint8Array.of(1), bytes: 32, cost: SLOW })
  hashing.close()
  await expect(waits).rejects.toMatchObject({ code: "unavailable" })
})

interface ThreadSeen {
  id: number
  name: string
  nice: number
}

function threads(): ThreadSeen[] {
  return readdirSync("/proc/self/task").flatMap((id) => {
    try {
      const [, name, rest] = readFileSync(`/proc/self/task/${id}/stat`, "utf8").match(/\((.*)\) (.*)/)!
      return [{ id: Number(id), name: name!, nice: Number(rest!.split(" ")[NICE]) }]
    } catch {
      return [] // the thread has ended
    }
  })
}

/** Counts workers by their priority, which is unique per test. Threads of the engine inherit the priority, but not the name. */
function workersAt(niceness: number): number {
  return threads().filter(({ name, nice }) => name === "Worker" && nice === niceness).length
}
