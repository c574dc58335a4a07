/**
 * Markdown without raw HTML, images and external resources. The library only splits the text into tokens; everything is drawn as elements
 * with text in them, so nothing of the text can become code.
 */
import type { Token, Tokens } from "marked"
import type { ComponentChildren } from "preact"
import { visible, webAddress } from "#plugin/ui"

export const Markdown = ({ tokens }: { tokens: readonly Token[] }) => {
  setLevels(tokens)
  return <div class="markdown">{tokens.map(Block)}</div>
}

/** Draws all tokens; they are known by their place. */
const inline = (tokens: readonly Token[] | undefined): ComponentChildren => tokens?.map((token, index) => <Inline key={index} of={token} />)

/** Level of the widget's own heading. */
const TITLE_LEVEL = 2
const HEADINGS = ["h3", "h4", "h5", "h6"] as const

const headingsIn = (tokens: readonly Token[]): Token[] =>
  tokens.flatMap((token) => {
    if (token.type === "heading") return [token]
    if (token.type === "list") return headingsIn((token as Tokens.List).items)
    return "tokens" in token ? headingsIn(token.tokens ?? []) : []
  })

/**
 * Sets the depth of headings so that they begin below that of the widget and skip no level, whatever level the text begins with: people
 * who use a screen reader go through a page by its headings.
 */
function setLevels(tokens: readonly Token[]): void {
  const headings = headingsIn(tokens) as Tokens.Heading[]
  const shift = TITLE_LEVEL + 1 - Math.min(...headings.map(({ depth }) => depth))
  let before = TITLE_LEVEL
  for (const heading of headings) {
    heading.depth = Math.min(heading.depth + shift, before + 1)
    before = heading.depth
  }
}

function Block(token: Token, key: number): ComponentChildren {
  switch (token.type) {
    case "heading": {
      const Heading = HEADINGS[Math.min(token.depth - TITLE_LEVEL, HEADINGS.length) - 1]!
      return <Heading key={key}>{inline(token.tokens)}</Heading>
    }
    case "paragraph":
      return <p key={key}>{inline(token.tokens)}</p>
    case "blockquote":
      return <blockquote key={key}>{token.tokens?.map(Block)}</blockquote>
    case "list": {
      const { ordered, start, items } = token as Tokens.List
      const rows = items.map((item, index) => <li key={index}>{item.tokens.map(Block)}</li>)
      return ordered ? (
        <ol key={key} start={Number(start) || 1}>
          {rows}
        </ol>
      ) : (
        <ul key={key}>{rows}</ul>
      )
    }
    case "code":
      return (
        <pre key={key} tabIndex={0}>
          <code>{plain(token.text)}</code>
        </pre>
      )
    case "table":
      return <Table key={key} of={token as Tokens.Table} />
    case "hr":
      return <hr key={key} />
    case "space":
    case "def":
      return null
    case "text":
      return <span key={key}>{token.tokens ? inline(token.tokens) : unescaped(token.text)}</span>
    default:
      // Raw HTML and everything unknown is shown as it was typed.
      return <p key={key}>{plain(token.raw)}</p>
  }
}

function Inline({ of: token }: { of: Token }) {
  switch (token.type) {
    case "strong":
      return <strong>{inline(token.tokens)}</strong>
    case "em":
      return <em>{inline(token.tokens)}</em>
    case "del":
      return <del>{inline(token.tokens)}</del>
    case "codespan":
      return <code>{plain(token.text)}</code>
    case "br":
      return <br />
    case "link": {
      const href = webAddress(token.href)
      if (!href) return <>{inline(token.tokens)}</>
      return (
        <a href={href} target="_blank" rel="noreferrer noopener nofollow">
          {inline(token.tokens)}
        </a>
      )
    }
    case "image":
      return <>{plain(token.text)}</>
    case "escape":
    case "text":
      return <>{token.type === "text" && token.tokens ? inline(token.tokens) : unescaped(token.text)}</>
    default:
      return <>{plain(token.raw)}</>
  }
}

const Table = ({ of: { header, rows } }: { of: Tokens.Table }) => (
  <div class="table-wrap" tabIndex={0} role="region" aria-label="Table">
    <table class="table">
      <thead>
        <tr>
          {header.map((cell, index) => (
            <th key={index} scope="col">
              {inline(cell.tokens)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            {row.map((cell, column) => (
              <td key={column}>{inline(cell.tokens)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

/** Line feeds and tabs stay; other control characters are shown as escapes. */
const plain = (text: string): string => text.replace(/[^\n\t]+/g, visible)

const ENTITIES: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" }

/** Replaces the entities that people type for characters with a meaning. */
const unescaped = (text: string): string => plain(text.replace(/&(amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity]!))
