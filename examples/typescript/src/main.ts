// A task in, an answer out: the Anthropic SDK's tool runner with Pagehand as its browser.
//
//     node dist/main.js [flags of pagehand exec] TASK
//
// The SDK takes the key and the API's address from ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL.

import Anthropic from '@anthropic-ai/sdk';
import { PagehandBrowser } from './pagehand.js';

const flags = process.argv.slice(2);
const task = flags.pop();
if (!task) {
  console.error('Usage: node dist/main.js [flags of pagehand exec] TASK');
  process.exit(2);
}

const browser = new PagehandBrowser({ flags });
try {
  const runner = new Anthropic().beta.messages.toolRunner({
    model: process.env['ANTHROPIC_MODEL'] ?? 'claude-sonnet-5',
    max_tokens: 4096,
    max_iterations: 100,
    messages: [{ role: 'user', content: task }],
    tools: [browser],
    stream: true,
  });
  for await (const stream of runner) {
    const { content } = await stream.finalMessage();
    for (const block of content) {
      if (block.type === 'text') console.log(block.text);
      if (block.type === 'tool_use') console.error(`  ${block.name} ${JSON.stringify(block.input)}`);
    }
  }
} finally {
  await browser.close();
}
