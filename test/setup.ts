import { afterAll, afterEach } from "bun:test"

// Removes variables that a test leaves behind, because they would configure the instances of all later tests.
const before = new Map(Object.entries(process.env).filter(([name]) => name.startsWith("FOOTFALL_")))
afterEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith("FOOTFALL_") && !before.has(name)) delete process.env[name]
})

const ends: (() => Promise<void>)[] = []

/** Registers work for the end of each test file, or of all files if they run one after another in the process of the runner. */
export const atEndOfFile = (end: () => Promise<void>): void => void ends.push(end)

afterAll(async () => {
  for (const end of ends) await end()
})
