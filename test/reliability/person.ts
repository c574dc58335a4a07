import { footfall } from "../cli/footfall.ts"

const PASSWORD = "a fine long password"
const EMAIL = "ann@example.org"

/** A signed-in owner, who sends requests below the first site. */
export interface Person {
  // biome-ignore lint/suspicious/noExplicitAny: answers whose fields the tests compare
  send(method: string, path: string, body?: object): Promise<{ status: number; body: any }>
}

/** Creates an instance with an owner, and nothing else. */
export async function createOwner(dataDir: string): Promise<void> {
  const words = ["setup", "--email", EMAIL, "--name", "Ann", "--organization", "Shop", "--password-stdin", "--data-dir", dataDir]
  const { code, err } = await footfall(words, { input: `${PASSWORD}\n` })
  if (code !== 0) throw new Error(`The set-up ended with ${code}: ${err}`)
}

export async function signIn(address: string): Promise<Person> {
  const headers = { "content-type": "application/json" }
  const credentials = JSON.stringify({ email: EMAIL, password: PASSWORD })
  const login = await fetch(`${address}/api/private/auth/login`, { method: "POST", headers, body: credentials })
  const cookie = login.headers.get("set-cookie")!.split(";")[0]!
  return {
    async send(method, path, body) {
      const request = { method, headers: { ...headers, cookie }, ...(body && { body: JSON.stringify(body) }) }
      const answer = await fetch(`${address}/api/private/sites/1${path}`, request)
      return { status: answer.status, body: await answer.json() }
    },
  }
}

/** Creates the first site, in UTC. */
export async function createSite({ send }: Person): Promise<void> {
  const site = { name: "Shop", hosts: ["shop.example"], timezone: "UTC" }
  const { status, body } = await send("POST", "/../../organizations/1/sites", site)
  if (status !== 201) throw new Error(`The site was refused: ${JSON.stringify(body)}`)
}
