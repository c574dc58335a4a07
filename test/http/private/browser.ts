import { serveOthers, type TestInstance } from "../../kit.ts"

export interface Page {
  status: number
  /** The code of a problem. */
  code: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the body it expects.
  body: Record<string, any>
  headers: Headers
}

/** A simulated browser: stores cookies like one and sends the headers that name the origin of a request. */
export interface Browser {
  get(path: string): Promise<Page>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Page>
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Page>
  /** Cookies by name, without those that the server has cleared. */
  cookies: Map<string, string>
  address: string
}

const BASE = "http://localhost"

/** Paths are relative to `/api/private`. */
export function browserOf(instance: TestInstance, address = "198.51.100.7", base = BASE): Browser {
  const cookies = new Map<string, string>()
  const send: Browser["send"] = async (method, path, body, headers = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ")
    const request = new Request(`${base}${path.startsWith("/") ? `/api/private${path}` : `/${path}`}`, {
      method,
      headers: {
        ...(cookie && { cookie }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(method !== "GET" && { "sec-fetch-site": "same-origin" }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    })
    const response = await instance.fetch(request, browser.address)
    for (const line of response.headers.getSetCookie()) keep(line, cookies)
    const text = await response.text()
    const isJson = /json/.test(response.headers.get("content-type") ?? "") && text !== ""
    const parsed = isJson ? JSON.parse(text) : { text }
    return { status: response.status, code: response.status >= 400 ? parsed.code : undefined, body: parsed, headers: response.headers }
  }
  const browser: Browser = {
    send,
    cookies,
    address,
    get: (path) => send("GET", path),
    post: (path, body, headers) => send("POST", path, body, headers),
  }
  return browser
}

function keep(line: string, cookies: Map<string, string>): void {
  const [pair = "", ...attributes] = line.split("; ")
  const [name = "", value = ""] = [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]
  if (attributes.includes("Max-Age=0")) cookies.delete(name)
  else cookies.set(name, value)
}

export const ADA = { email: "ada@example.org", password: "a fine long password", name: "Ada", organization: "Acme" }

/** Sets up an instance as Ada through the public set-up, next to an organization of others. Returns her signed-in browser. */
export async function setUp(instance: TestInstance): Promise<Browser> {
  await serveOthers(instance)
  const browser = browserOf(instance)
  const { token } = instance.app.instance.accounts.setup.token.begin(() => {})
  const answer = await browser.post("/setup", { token, ...ADA })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return browser
}
