export const Exporting = () => (
  <>
    <section class="stack">
      <h2>From a page</h2>
      <ul>
        <li>
          <strong>CSV</strong> below a card holds everything that matches the filters, not only the rows that are shown.
        </li>
        <li>
          <strong>PNG</strong> is the chart as a picture.
        </li>
        <li>
          <strong>Copy as API call</strong> is the same question for a program; <strong>Copy as MCP prompt</strong> is the same question for
          an assistant.
        </li>
        <li>The address of the page is a link to what it shows, for everybody who may see the site.</li>
      </ul>
      <p>It takes the permission to download, which a site can take away from viewers.</p>
    </section>
    <section class="stack">
      <h2>By program</h2>
      <p>
        <code>GET /api/public/v1/sites/:id/export</code> answers reports and raw rows as CSV, JSON or NDJSON, with a key that may download
        raw data. Rows name a visitor by a pseudonym that means nothing elsewhere.
      </p>
    </section>
    <section class="stack">
      <h2>Everything</h2>
      <p>
        One folder holds the whole instance. Backups are made and verified in the admin console and by <code>footfall backup</code>; they
        hold no salts.
      </p>
    </section>
  </>
)
