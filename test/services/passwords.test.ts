import { afterEach, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { createHashThreads } from "../../src/services/hash-threads.ts"
import { createPasswords } from "../../src/services/passwords.ts"
import { WORKERS } from "../kit.ts"

const PASSWORD = "a walk along the river"
const CHEAP = { algorithm: "argon2id", memoryCost: 64, timeCost: 1 } as const
const HASH = Bun.password.hashSync(PASSWORD, CHEAP)
/** Some hundred milliseconds. */
const SLOW = { N: 65_536, r: 8, p: 4 } as const

/** Where a thread's state has its priority, counted from behind its name. */
const NICE = 16

const opened: { close(): void }[] = []
afterEach(() => {
  for (const each of opened.splice(0)) each.close()
})

function open<T extends { close(): void }>(made: T): T {
  opened.push(made)
  return made
}

const passwords = (atOnce: number) => open(createPasswords({ workerUrl: WORKERS.hash, niceness: 0, atOnce }))

test("a password is that of its hash alone, and an unknown user's is nobody's", async () => {
  const { hash, verify } = passwords(1)
  const made = await hash(PASSWORD)
  expect(made).toStartWith("$argon2id$v=19$m=19456,t=2,p=1$")
  expect(await verify(PASSWORD, made)).toEqual({ isRight: true, outdated: false })
  expect(await verify("a walk along the road", made)).toEqual({ isRight: false, outdated: false })
  expect(await verify(PASSWORD, HASH)).toEqual({ isRight: true, outdated: true })
  expect(await verify(PASSWORD, null)).toEqual({ isRight: false, outdated: false })
})

test("a secret is derived the same way each time, and another way under another salt", async () => {
  const { derive } = passwords(1)
  const [one, same, other] = await Promise.all([1, 1, 2].map((salt) => derive("xxxxx-xxxxx", Uint8Array.of(salt))))
  expect(one).toEqual(same!)
  expect(one).not.toEqual(other!)
  expect(one).toHaveLength(32)
})

test("a hash that fails gives its turn on, and its thread goes on", async () => {
  const { verify } = passwords(1)
  const [broken, whole] = await Promise.allSettled([verify("x", "no hash at all"), verify(PASSWORD, HASH)])
  expect(broken.status).toBe("rejected")
  expect(whole).toMatchObject({ status: "fulfilled", value: { isRight: true } })
})

test("so many are hashed at a time as are allowed", async () => {
  const { derive } = passwords(2)
  const before = workers().length
  const all = Promise.all(Array.from({ length: 6 }, (_, salt) => derive("secret", Uint8Array.of(salt))))
  let most = 0
  while (!(await Promise.race([all.then(() => true), Bun.sleep(1).then(() => false)]))) most = Math.max(most, workers().length)
  expect(most - before).toBe(2)
})

test("on Linux the threads give way to all others, which keep their priority", async () => {
  const hashing = open(createHashThreads({ workerUrl: WORKERS.hash, niceness: 10 }))
  await hashing.run<"verify">({ do: "verify", password: PASSWORD, hash: HASH })
  expect(workers().filter(({ nice }) => nice === 10)).toHaveLength(1)
  expect(threads().find(({ id }) => id === process.pid)?.nice).toBe(0)
})

test("threads that nobody wants for a while are ended; the next hash has a new one", async () => {
  const hashing = open(createHashThreads({ workerUrl: WORKERS.hash, niceness: 0, keptMs: 1 }))
  const before = workers().length
  const verify = () => hashing.run<"verify">({ do: "verify", password: PASSWORD, hash: HASH })
  expect(await verify()).toBe(true)
  while (workers().length > before) await Bun.sleep(5)
  expect(await verify()).toBe(true)
})

test("who waits for a hash when all ends is told so", async () => {
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
      return [] // ended meanwhile
    }
  })
}

/** What an engine starts for a thread inherits its priority, but not its name. */
function workers(): ThreadSeen[] {
  return threads().filter(({ name }) => name === "Worker")
}
