#!/usr/bin/env python3
"""Make notes/travel-policy.pdf, the sample PDF of the notes.

    pip install reportlab==5.1.0
    apt-get install fonts-wqy-microhei        # Debian, 0.2.0-beta-3.1
    python3 scripts/make_policy_pdf.py        # writes notes/travel-policy.pdf

The output is committed, so nobody needs this script to build or test. With the same versions it gives
the same bytes: reportlab's invariant mode fixes dates and ids.

Font: WenQuanYi Micro Hei, Apache-2.0 or GPL-3+ with the font exception (either allows embedding a
subset in a document), embedding bits "editable". Only the glyphs that occur are embedded, each with
a ToUnicode entry. Lines are broken here and not by reportlab, whose CJK mode cuts English words.
"""

import re
import sys
from pathlib import Path

from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

FONT_FILE = "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc"
FONT = "WQYMicroHei"
TARGET = Path(__file__).resolve().parent.parent / "notes" / "travel-policy.pdf"

TITLE = "差旅费用管理办法 Travel Expense Policy"
HEADER = "青禾科技 · 差旅费用管理办法"

WIDTH, HEIGHT = A4
MARGIN = 64
TEXT_WIDTH = WIDTH - 2 * MARGIN
BOTTOM = 70

# kind: (font size, leading, space before, space after)
STYLES = {
    "title": (18, 26, 0, 4),
    "note": (9, 14, 0, 8),
    "chapter": (14, 20, 14, 4),
    "section": (11.5, 17, 9, 2),
    "text": (10.5, 17.5, 0, 4),
    "item": (10.5, 17.5, 0, 1),
}
CELL_SIZE, CELL_LEADING, CELL_PADDING = 9.5, 14, 5

NO_LINE_START = set("，。；：、！？）》”’,.;:!?)%")
NO_LINE_END = set("（《“‘(")

PAGES = [
    [
        ("title", TITLE),
        ("note", "版本 2026-03　生效日期 2026 年 3 月 1 日　归口：行政与财务　联系人：何清"),
        ("chapter", "第一章 总则 General"),
        ("section", "1.1 总则 Purpose"),
        ("text", "本办法规定公司员工出差的申请、住宿、交通、餐补与报销。目的有两个：让出差的人住得踏实、少操心垫款；让公司的钱花得合理、查得清楚。金额均以人民币计，含税。"),
        ("section", "1.2 适用范围 Scope"),
        ("text", "适用于全体正式员工和实习生，包括里斯本办公室。外部顾问按合同执行，合同没有写明的参照本办法。应聘者来面试的路费由人事单独处理，不在此列。"),
        ("section", "1.3 三条原则 Principles"),
        ("item", "（1）先申请后出行：没有批准的出差申请，费用由本人承担。"),
        ("item", "（2）据实报销：花多少报多少，不包干，餐补除外。"),
        ("item", "（3）像花自己的钱一样：能开视频会议解决的，不出差。"),
        ("chapter", "第二章 出差申请 Travel request"),
        ("section", "2.1 何时申请 When to file"),
        ("text", "至少提前 3 个工作日在办公系统提交出差申请（travel request），写明目的、日期、城市、同行人和预算。同一项目多人同行时，由一人统一提交。"),
        ("section", "2.2 谁来批准 Who approves the trip"),
        ("text", "境内出差不超过 5 天的，由直属负责人批准；超过 5 天或者前往境外的，报分管副总批准。批准后行程变更超过一天的，须重新提交。"),
        ("section", "2.3 临时出差 Urgent trips"),
        ("text", "客户故障等紧急情形，可以先取得直属负责人的口头或书面同意后出发，并在出发后 24 小时内补交申请。"),
        ("section", "2.4 预支 Cash advance"),
        ("text", "预算超过 3,000 元的，可以申请预支，最多为预算的七成，财务在两个工作日内付款。上一次预支没有结清的，不再预支。"),
    ],
    [
        ("chapter", "第三章 住宿 Accommodation"),
        ("section", "3.1 预订方式 Booking"),
        ("text", "优先在公司差旅平台预订协议酒店，房费由公司月结，无须垫付。平台没有合适房源时可以自行预订，选择可免费取消的房型，保留订单截图和入住凭证。出差取消时，须在酒店规定的时限之前退订，因忘记退订产生的费用由本人承担。"),
        ("section", "3.2 住宿标准 Nightly limits"),
        ("text", "各级城市的每晚上限（nightly limit）与每日餐补（meal allowance）如下表。上限含税和服务费，按每间每晚计算。"),
        ("table", (92, 175, 100, 100), [
            ("城市级别 Class", "城市 Cities", "每晚上限 Limit", "每日餐补 Meals"),
            ("一线城市 A", "北京、上海、广州、深圳", "500 元", "120 元"),
            ("其他城市 B", "境内其余城市", "400 元", "100 元"),
            ("港澳台 C", "香港、澳门、台北及周边", "900 元", "200 元"),
            ("境外 D", "其他国家和地区", "1,100 元", "260 元"),
        ]),
        ("item", "（1）一线城市每晚不超过 500 元，其他城市 400 元。"),
        ("item", "（2）两位同性同事同行的，鼓励同住一间，上限上浮三成。"),
        ("item", "（3）大型展会期间上限上浮 20%，展会名单以差旅平台公布的为准。"),
        ("section", "3.3 超标审批 Approval above the limit"),
        ("text", "超标住宿须经直属负责人和分管副总两级审批，并在入住前完成。申请里写明超标的原因、金额和比较过的另外两家酒店。没有事先审批的，超出部分不予报销；超出上限一半以上的，一律不批，请换酒店。"),
        ("text", "深夜到达、航班取消等无法事先申请的情形，可以先入住，次日中午前补交说明，由上述两级负责人确认。"),
        ("section", "3.4 自行解决住宿 Staying with friends"),
        ("text", "住在亲友家中、不发生房费的，凭出差申请每晚补贴 80 元，不需要发票。"),
        ("section", "3.5 长期驻场 Long stays"),
        ("text", "在同一城市连续停留超过 20 天的，改租公寓，月租不超过当地每晚上限的 15 倍，由行政签约。"),
    ],
    [
        ("chapter", "第四章 交通 Transport"),
        ("section", "4.1 城际交通 Between cities"),
        ("item", "（1）火车车程在 5 小时以内的，乘高铁二等座，不乘飞机。"),
        ("item", "（2）飞机一律经济舱，至少提前一周购票；退改签费用须说明原因。"),
        ("item", "（3）夜间卧铺可以代替一晚住宿，另补 60 元。"),
        ("section", "4.2 市内交通 Within the city"),
        ("text", "首选公共交通。22:00 以后、携带设备或者三人以上同行的，可以打车，行程单须写明起止地点。往返机场和车站的打车费每程不超过 150 元。"),
        ("section", "4.3 自驾 Own car"),
        ("text", "经直属负责人同意可以自驾，每公里补贴 1.2 元，过路费和停车费另报。自驾途中的罚款由本人承担。"),
        ("chapter", "第五章 餐补与招待 Meals and hospitality"),
        ("text", "餐补按 3.2 的表以出差天数包干发放，出发日和返回日各算半天，无须发票。当天由客户或会议提供正餐的，每餐扣减当日餐补的 40%。"),
        ("text", "招待客户须事先说明对象和人数，人均不超过 180 元，酒水不报销。招待当餐不再计发餐补。"),
        ("chapter", "第六章 报销 Reimbursement"),
        ("section", "6.1 期限 Deadline"),
        ("text", "返回后 15 个工作日内提交报销单；超过 60 天的不再受理。财务在收齐材料后 7 个工作日内付款到工资卡。"),
        ("section", "6.2 票据 Receipts"),
        ("item", "（1）发票抬头为“杭州青禾科技有限公司”，税号见办公系统首页。"),
        ("item", "（2）住宿须附酒店水单，打车须附行程单，机票须附登机凭证。"),
        ("item", "（3）票据遗失的，写一份说明由直属负责人签字，按金额的一半报销。"),
        ("section", "6.3 外币 Foreign currency"),
        ("text", "境外消费按刷卡当日的银行账单折算；现金支付按出发日的中间价折算。"),
        ("section", "6.4 抽查 Spot checks"),
        ("text", "财务每月抽查一成报销单。虚报的，追回款项，并取消当事人一年的预支资格。"),
    ],
    [
        ("chapter", "第七章 英文摘要 English summary"),
        ("section", "7.1 Before you travel"),
        ("text", "File a travel request at least three working days ahead. Your direct manager approves domestic trips of up to five days; longer trips and trips abroad go to the vice president in charge. If a customer is down, go first and file within 24 hours."),
        ("section", "7.2 How to pick a hotel under the limit"),
        ("text", "To pick a hotel under the limit, first look up the city class: 500 yuan a night in Beijing, Shanghai, Guangzhou and Shenzhen, 400 yuan in other mainland cities. Open the travel platform, set the price filter to that limit, and sort by distance to your meeting. Choose a contract hotel when there is one within three kilometres: it is paid by the company and can be cancelled free of charge until 18:00. Compare prices with tax and service included, because the nightly limit includes both."),
        ("text", "If every hotel nearby is over the limit, try one or two metro stops further before you ask for an exception. A hotel above the nightly limit needs two approvals before check-in: your direct manager and the vice president in charge."),
        ("section", "7.3 Trains, flights and taxis"),
        ("text", "Take the train when the journey is five hours or less. Flights are economy class. Taxis are fine after 22:00, with equipment, or with three people or more."),
        ("section", "7.4 Getting your money back"),
        ("text", "Hand in the claim within 15 working days after your return, with hotel statement and taxi trip sheets. The meal allowance is paid by the day and needs no receipts."),
        ("chapter", "第八章 附则 Final provisions"),
        ("section", "8.1 解释与修订 Interpretation"),
        ("text", "本办法由行政与财务解释，每年三月修订一次。中文与英文不一致时，以中文为准。"),
        ("section", "8.2 修订记录 Revisions"),
        ("table", (92, 375), [
            ("版本 Version", "变化 Changes"),
            ("2026-03", "港澳台与境外分列；超标住宿由一级审批改为两级审批"),
            ("2025-03", "餐补改为包干；增加展会期间上浮"),
            ("2024-03", "第一版"),
        ]),
        ("text", "对本办法有疑问，请在频道 #travel 提问，由何清在一个工作日内答复。"),
    ],
]


def tokens(text):
    """Words of Latin letters and digits stay whole; every other character may stand alone."""
    return re.findall(r"[0-9A-Za-z#:.,'’%-]+|.", text)


def wrap(text, size, width):
    """Lines of text that fit the width; no line starts or ends with punctuation that may not."""
    lines, line = [], []
    for token in tokens(text):
        if line and pdfmetrics.stringWidth("".join(line) + token, FONT, size) > width:
            carry = [token]
            while len(line) > 1 and (carry[0][0] in NO_LINE_START or line[-1] in NO_LINE_END):
                carry.insert(0, line.pop())
            lines.append("".join(line).strip(" "))
            line = carry if carry != [" "] else []
        else:
            line.append(token)
    return lines + ["".join(line).strip(" ")]


class Page:
    """Draws blocks downwards and fails when they do not fit."""

    def __init__(self, canvas, number, total):
        self.canvas, self.y = canvas, HEIGHT - 84
        canvas.setFont(FONT, 8.5)
        canvas.drawString(MARGIN, HEIGHT - 48, HEADER)
        self.footer = f"第 {number} 页 / 共 {total} 页"

    def text(self, kind, text):
        size, leading, before, after = STYLES[kind]
        self.y -= before
        indent = 12 if kind == "item" else 0
        self.canvas.setFont(FONT, size)
        for line in wrap(text, size, TEXT_WIDTH - indent):
            self.y -= leading
            self.canvas.drawString(MARGIN + indent, self.y, line)
        self.y -= after

    def table(self, widths, rows):
        self.y -= 6
        self.canvas.setLineWidth(0.4)
        self.canvas.setFont(FONT, CELL_SIZE)
        edges = [MARGIN + sum(widths[:i]) for i in range(len(widths) + 1)]
        top, height = self.y, CELL_LEADING + CELL_PADDING
        for row in rows:
            self.canvas.line(edges[0], self.y, edges[-1], self.y)
            for x, cell in zip(edges, row):
                self.canvas.drawString(x + CELL_PADDING, self.y - CELL_LEADING, cell)
            self.y -= height
        self.canvas.line(edges[0], self.y, edges[-1], self.y)
        for x in edges:
            self.canvas.line(x, top, x, self.y)
        self.y -= 6

    def finish(self):
        if self.y < BOTTOM:
            sys.exit(f"make_policy_pdf: {self.footer}: text runs {BOTTOM - self.y:.0f} points into the footer")
        self.canvas.setFont(FONT, 8.5)
        self.canvas.drawCentredString(WIDTH / 2, 40, self.footer)
        self.canvas.showPage()


def main():
    pdfmetrics.registerFont(TTFont(FONT, FONT_FILE, subfontIndex=0))
    canvas = Canvas(str(TARGET), pagesize=A4, invariant=1, pageCompression=1, initialFontName=FONT)
    canvas.setTitle(TITLE)
    canvas.setAuthor("青禾科技")
    canvas.setCreator("scripts/make_policy_pdf.py")
    canvas.setSubject("出差申请、住宿标准、交通、餐补与报销")
    for number, blocks in enumerate(PAGES, start=1):
        page = Page(canvas, number, len(PAGES))
        for kind, *content in blocks:
            page.table(*content) if kind == "table" else page.text(kind, *content)
        page.finish()
    canvas.save()


if __name__ == "__main__":
    main()
