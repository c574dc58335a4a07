import { changeText, daysText, FIGURE_LABELS, figureText, LIST_LABELS, numberText, type ReportContent, titleOf } from "./content.ts"

/** The parts of an email that a report fills. */
export interface ReportEmail {
  subject: string
  text: string
  html: string
}

interface EmailContext {
  siteName: string
  /** URL of the site's dashboard with the days of the report. */
  link: string
  /** URL at which the recipient unsubscribes. */
  unsubscribe: string
}

const NO_ROWS = "Nothing in this period."

/** Writes the email of a report as text and as HTML, with the same content. */
export function emailOf(content: ReportContent, context: EmailContext): ReportEmail {
  const title = titleOf(content.kind, context.siteName)
  return {
    subject: `${title}: ${daysText(content)}`,
    text: textOf(content, title, context),
    html: htmlOf(content, title, context),
  }
}

function textOf(content: ReportContent, title: string, { link, unsubscribe }: EmailContext): string {
  const figures = content.figures.map((figure) => {
    const change = changeText(figure)
    return `${FIGURE_LABELS[figure.metric]}: ${figureText(figure, content.currency)}${change === undefined ? "" : ` (${change})`}`
  })
  const lists = content.lists.map(({ section, rows }) => {
    const { title: heading, unit } = LIST_LABELS[section]
    const lines = rows.map(({ name, value }) => `${name}: ${numberText(value)}`)
    return [`${heading} (${unit.toLowerCase()})`, ...(lines.length > 0 ? lines : [NO_ROWS])].join("\n")
  })
  return [
    `${title}\n${daysText(content)}`,
    ...(figures.length > 0 ? [figures.join("\n")] : []),
    ...lists,
    `Open the dashboard:\n${link}`,
    `You receive this email because someone subscribed this address to reports about the site. Unsubscribe:\n${unsubscribe}`,
  ].join("\n\n")
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character]!)

const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
const [INK, MUTED, LINE, GOOD, BAD, ACCENT] = ["#1c1b22", "#5f5d6b", "#e4e2ea", "#18794e", "#b4232c", "#4338ca"]

/**
 * Mail programs ignore style sheets in part, so every style is inline and the layout is made of tables. Programs that know dark mode
 * use the classes of the style sheet; those that invert colours by themselves find no images and no text on coloured ground but the button.
 */
const STYLE = `:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (prefers-color-scheme:dark){
.page{background:#131217!important}.card{background:#1d1c23!important;border-color:#35333f!important}
.ink{color:#f1f0f5!important}.muted{color:#aaa7b8!important}.line{border-color:#35333f!important}
.good{color:#4cc38a!important}.bad{color:#ff8f8f!important}.link{color:#a5a2ff!important}}`

function htmlOf(content: ReportContent, title: string, { link, unsubscribe }: EmailContext): string {
  const days = daysText(content)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">
<title>${escaped(title)}</title><style>${STYLE}</style></head>
<body class="page" style="margin:0;padding:0;background:#f5f4f8">
<div style="display:none;max-height:0;overflow:hidden">${escaped(summaryOf(content))}</div>
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" border="0" style="background:#f5f4f8"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:600px;background:#ffffff;border:1px solid ${LINE};border-radius:12px"><tr><td style="padding:28px 28px 8px;${FONT}">
<h1 class="ink" style="margin:0;font-size:20px;line-height:28px;font-weight:600;color:${INK}">${escaped(title)}</h1>
<p class="muted" style="margin:2px 0 0;font-size:14px;line-height:20px;color:${MUTED}">${escaped(days)}</p>
</td></tr>
${figuresHtml(content)}${content.lists.map(listHtml).join("")}
<tr><td style="padding:20px 28px 28px;${FONT}">
<table role="presentation" cellpadding="0" cellspacing="0" border="0"><tr><td style="border-radius:8px;background:${ACCENT}">
<a href="${escaped(link)}" style="display:inline-block;padding:10px 18px;font-size:14px;line-height:20px;font-weight:600;color:#ffffff;text-decoration:none">Open the dashboard</a>
</td></tr></table></td></tr></table>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:600px"><tr><td class="muted" align="center" style="padding:16px 28px;${FONT};font-size:12px;line-height:18px;color:${MUTED}">
You receive this email because someone subscribed this address to reports about the site.<br>
<a class="link" href="${escaped(unsubscribe)}" style="color:${ACCENT}">Unsubscribe</a>
</td></tr></table>
</td></tr></table></body></html>`
}

/** The line that mail programs show next to the subject. */
const summaryOf = ({ figures, currency }: ReportContent): string =>
  figures
    .slice(0, 3)
    .map((figure) => `${FIGURE_LABELS[figure.metric]}: ${figureText(figure, currency)}`)
    .join(" · ")

const PER_ROW = 3

function figuresHtml({ figures, currency }: ReportContent): string {
  if (figures.length === 0) return ""
  const cells = figures.map((figure) => {
    const change = changeText(figure)
    const label = `<span class="muted" style="font-size:13px;line-height:18px;color:${MUTED}">${FIGURE_LABELS[figure.metric]}</span>`
    const value = `<span class="ink" style="font-size:22px;line-height:30px;font-weight:600;color:${INK}">${escaped(figureText(figure, currency))}</span>`
    return `<td width="33%" valign="top" style="padding:12px 8px 0 0;${FONT}">${label}<br>${value}<br>${change === undefined ? "&nbsp;" : changeHtml(figure.metric, change)}</td>`
  })
  const empty = `<td width="33%">&nbsp;</td>`
  const rows: string[] = []
  for (let from = 0; from < cells.length; from += PER_ROW)
    rows.push(`<tr>${cells.slice(from, from + PER_ROW).join("")}${empty.repeat(Math.max(0, from + PER_ROW - cells.length))}</tr>`)
  return `<tr><td style="padding:4px 28px 8px"><table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">${rows.join("")}</table></td></tr>`
}

/** A lower bounce rate is better; of everything else more is. */
function changeHtml(metric: string, change: string): string {
  const isUp = change.startsWith("+")
  const isSame = change.startsWith("±")
  const isGood = metric === "bounce_rate" ? !isUp : isUp
  const [name, color] = isSame ? ["muted", MUTED] : isGood ? ["good", GOOD] : ["bad", BAD]
  return `<span class="${name}" style="font-size:13px;line-height:18px;color:${color}">${change}</span>`
}

function listHtml({ section, rows }: ReportContent["lists"][number]): string {
  const { title, unit } = LIST_LABELS[section]
  const head = `<tr><th class="ink" align="left" scope="col" style="padding:0 0 6px;font-size:14px;line-height:20px;font-weight:600;color:${INK}">${title}</th><th class="muted" align="right" scope="col" style="padding:0 0 6px;font-size:13px;line-height:20px;font-weight:400;color:${MUTED}">${unit}</th></tr>`
  const cell = `padding:6px 0;border-top:1px solid ${LINE};font-size:14px;line-height:20px;color:${INK}`
  const body = rows.map(
    ({ name, value }) =>
      `<tr><td class="ink line" style="${cell};word-break:break-word">${escaped(name)}</td><td class="ink line" align="right" width="110" style="${cell}">${numberText(value)}</td></tr>`,
  )
  const none = `<tr><td class="muted line" colspan="2" style="${cell.replace(INK, MUTED)}">${NO_ROWS}</td></tr>`
  return `<tr><td style="padding:16px 28px 0;${FONT}"><table width="100%" cellpadding="0" cellspacing="0" border="0" style="${FONT}">${head}${body.length > 0 ? body.join("") : none}</table></td></tr>`
}
